#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "core/platform/freed_memory.h"
#include "core/platform/system_info.h"

namespace latebind::platform {
namespace {

// Sanitizers have an allocator of their own, which keeps what was freed to find who uses it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(FreedMemoryTest, WhatIsFreeBetweenWhatIsInUseIsReturned) {
  constexpr std::size_t kBlocks = 1024;
  constexpr std::size_t kBytes = std::size_t{64} << 10;
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i)
    blocks.push_back(std::make_unique<std::byte[]>(kBytes));  // written, as zeros
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (i % 16 != 15) blocks[i].reset();
  }
  const auto before = resident_bytes();
  EXPECT_TRUE(return_freed_memory());
  EXPECT_LT(resident_bytes() + kBlocks * kBytes / 2, before);
}
#endif

}  // namespace
}  // namespace latebind::platform
