// Time limits in a process that fork() made.
#include <gtest/gtest.h>

#include <string>

#include "core/failover/placed_model.h"
#include "tests/api/fork_support.h"

namespace latebind::core {
namespace {

std::string limit(const FailoverOptions& options) {
  const auto found = load_timeout_of(options, DeviceKind::kCpu);
  return found ? std::to_string(found->count()) : "none";
}

// A vendor's library may wait there for threads that only the parent has.
TEST(LoadTimeoutTest, OfCpusIsThatOfOtherDevicesInAChild) {
  EXPECT_EQ(limit({}), "none");
  EXPECT_EQ(
      test::said_by_child([] { return limit({}) + ", " + limit({.load_timeout = std::chrono::milliseconds(0)}); }),
      "300000, none");
}

}  // namespace
}  // namespace latebind::core
