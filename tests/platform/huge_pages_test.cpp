#include "core/platform/huge_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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

TEST(HugePagesTest, LargeMemoryBeginsAtAHugePageAndOtherWhereItIsToldTo) {
  const auto begins_at_multiple = [](const LargeMemory& memory, std::size_t of) {
    return reinterpret_cast<std::uintptr_t>(memory.get()) % of == 0;
  };
  for (const std::size_t alignment : {std::size_t{64}, std::size_t{4096}}) {
    for (const std::size_t bytes : {std::size_t{1}, kHugePage - 1, kHugePage, 3 * kHugePage + 1}) {
      const LargeMemory memory = large_memory(bytes, alignment);
      EXPECT_TRUE(begins_at_multiple(memory, bytes < kHugePage ? alignment : kHugePage)) << bytes;
      std::ranges::fill(std::span(memory.get(), bytes), std::byte{7});
    }
  }
}

TEST(HugePagesTest, ALargeVectorKeepsWhatItHasWhereverItsMemoryIs) {
  LargeVector<std::uint32_t> numbers;
  const auto begins_at_a_huge_page = [&numbers] {
    return reinterpret_cast<std::uintptr_t>(numbers.data()) % kHugePage == 0;
  };
  for (std::uint32_t i = 0; i < kHugePage; ++i)
    numbers.push_back(i);
  EXPECT_TRUE(begins_at_a_huge_page());
  for (std::uint32_t i = 0; i < kHugePage; ++i)
    ASSERT_EQ(numbers[i], i);
  numbers.resize(5);
  numbers.shrink_to_fit();
  EXPECT_EQ(numbers, LargeVector<std::uint32_t>({0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace latebind::platform
