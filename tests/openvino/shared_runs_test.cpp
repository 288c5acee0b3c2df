// Whose results count when another run of the same compiled model fails.
#include "backends/openvino/shared_runs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/support/latch.h"

namespace latebind::openvino {
namespace {

using core::Status;
using core::StatusCode;

class SharedRunsTest : public testing::Test {
 protected:
  Status run(SharedRuns& runs, const std::function<Status()>& compute,
             const std::function<bool()>& has_failed = never) {
    return runs.run({.compute = compute, .has_failed = has_failed, .is_spoiled = [this] { return spoiled_.load(); }});
  }
  static bool never() { return false; }
  Status fail() {
    spoiled_ = true;
    return Status(StatusCode::kDeviceFailed, "shapes do not fit together");
  }

  std::atomic<bool> spoiled_{false};
};

TEST_F(SharedRunsTest, OneByOneNoRunBeginsBeforeAFailureIsKnown) {
  SharedRuns runs(RunOrder::kOneByOne);
  latebind::test::Latch began(2);
  std::atomic<bool> was_computed{false};
  Status second;
  std::thread other;
  const Status first = run(runs, [&] {
    other = std::thread([&] {
      began.arrive_and_wait();
      second = run(runs, [&] {
        was_computed = true;
        return Status();
      });
    });
    began.arrive_and_wait();
    return fail();
  });
  other.join();
  EXPECT_EQ(first.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(second.code(), StatusCode::kBusy);
  EXPECT_FALSE(was_computed);
}

// The vendor has computed the second run after the first one failed, and the caller of the first does not know it yet.
TEST_F(SharedRunsTest, StartedASuccessWaitsForARunThatHasFailedAndIsNone) {
  SharedRuns runs(RunOrder::kStarted);
  latebind::test::Latch first_began(2);
  latebind::test::Latch first_was_asked(2);
  std::atomic<bool> was_asked{false};
  Status first;
  std::thread failing([&] {
    first = run(
        runs,
        [&] {
          first_began.arrive_and_wait();
          first_was_asked.arrive_and_wait();
          return fail();
        },
        [&] {
          if (!was_asked.exchange(true)) first_was_asked.count_down();
          return true;
        });
  });
  first_began.arrive_and_wait();
  const Status second = run(runs, [] { return Status(); });
  failing.join();
  EXPECT_TRUE(was_asked);
  EXPECT_EQ(first.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(second.code(), StatusCode::kBusy);
}

TEST_F(SharedRunsTest, StartedASuccessWaitsForNoRunThatHasNotFailed) {
  SharedRuns runs(RunOrder::kStarted);
  Status second;
  const Status first = run(runs, [&] {
    second = run(runs, [] { return Status(); });
    return Status();
  });
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(second.ok());
}

TEST_F(SharedRunsTest, IndependentRunsWaitForNoOther) {
  SharedRuns runs(RunOrder::kIndependent);
  Status second;
  const Status first = run(runs, [&] {
    second = run(runs, [] { return Status(); });
    return Status();
  });
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(second.ok());
  spoiled_ = true;
  EXPECT_EQ(run(runs, [] { return Status(); }).code(), StatusCode::kBusy);
}

}  // namespace
}  // namespace latebind::openvino
