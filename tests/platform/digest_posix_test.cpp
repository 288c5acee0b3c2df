#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "core/platform/digest.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

TEST(DigestTest, RefusesDevicesAndWhatMayNotBeRead) {
  const testing::ScratchFolder folder;
  EXPECT_EQ(sha256_hex_of_file("/dev/zero").status().code(), core::StatusCode::kInvalidArgument);
  testing::write_file(folder / "secret", "x");
  ::chmod((folder / "secret").c_str(), 0000);
  EXPECT_EQ(testing::as_nobody(
                [&] { return std::string(core::name_of(sha256_hex_of_file(folder / "secret").status().code())); }),
            "PERMISSION_DENIED");
}

}  // namespace
}  // namespace latebind::platform
