#include <gtest/gtest.h>

#include "core/platform/files/room_behind.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

TEST(RoomBehindTest, LeavesTheFileAsItIs) {
  const testing::ScratchFolder folder;
  testing::write_file(folder / "file", "content");
  EXPECT_TRUE(check_room_behind(folder / "file").ok());
  EXPECT_EQ(testing::read_file(folder / "file"), "content");
}

TEST(RoomBehindTest, AFullDiskIsAnError) {
  EXPECT_EQ(check_room_behind("/dev/full").code(), core::StatusCode::kDiskFull);
}

}  // namespace
}  // namespace latebind::platform
