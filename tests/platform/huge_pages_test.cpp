#include "core/platform/huge_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace latebind::platform {
namespace {

TEST(HugePagesTest, MemoryIsAsItWasWhateverPartOfItIsAskedFor) {
  std::vector<std::byte> memory(4 * kHugePage, std::byte{7});
  const std::span all(memory);
  for (const auto part :
       {all, all.subspan(1, kHugePage + 5), all.subspan(3, 2 * kHugePage), all.subspan(9, 1), all.first(0)})
    prefer_huge_pages(part);
  EXPECT_EQ(std::ranges::count(memory, std::byte{7}), static_cast<std::ptrdiff_t>(memory.size()));
}

}  // namespace
}  // namespace latebind::platform
