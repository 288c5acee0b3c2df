#include <sys/mman.h>

#include <cstdint>

#include "core/platform/huge_pages.h"

namespace latebind::platform {

void prefer_huge_pages(std::span<std::byte> memory) noexcept {
  // Only whole huge pages: for the rest, the system would take more memory than there is.
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(memory.data()) % kHugePage) % kHugePage;
  if (memory.size() < before + kHugePage) return;
  const auto pages = memory.subspan(before, (memory.size() - before) / kHugePage * kHugePage);
  ::madvise(pages.data(), pages.size(), MADV_HUGEPAGE);
}

}  // namespace latebind::platform
