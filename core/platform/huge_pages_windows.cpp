#include "core/platform/huge_pages.h"

namespace latebind::platform {

// On Windows, huge pages need a privilege that users do not have.
void prefer_huge_pages(std::span<std::byte> /*memory*/) noexcept {}

}  // namespace latebind::platform
