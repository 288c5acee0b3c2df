#include "server/transport/refusal_pace.h"

#include <gtest/gtest.h>

namespace latebind::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const RefusalPace::Clock::time_point kBegin{seconds(1000)};

TEST(RefusalPaceTest, NobodyWaitsWhileRefusalsTakeLessThanTheirShare) {
  RefusalPace pace(0.5);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(pace.after(milliseconds(1), kBegin + milliseconds(3 * i)).count(), 0) << i;
}

TEST(RefusalPaceTest, SomeAtOnceDoNotWait) {
  RefusalPace pace(0.5);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(pace.after(milliseconds(1), kBegin).count(), 0) << i;
}

TEST(RefusalPaceTest, OthersWaitInLineUntilTheShareIsKept) {
  RefusalPace pace(0.5);
  for (int i = 0; i < 125; ++i)
    static_cast<void>(pace.after(milliseconds(1), kBegin));
  EXPECT_EQ(pace.after(milliseconds(1), kBegin), milliseconds(2));
  EXPECT_EQ(pace.after(milliseconds(1), kBegin), milliseconds(4));
  // Time passes, and what was used is paid for.
  EXPECT_EQ(pace.after(milliseconds(1), kBegin + milliseconds(3)), milliseconds(3));
  EXPECT_EQ(pace.after(milliseconds(1), kBegin + seconds(1)).count(), 0);
}

TEST(RefusalPaceTest, NobodyWaitsLongerThanClientsAreTold) {
  RefusalPace pace(0.001);
  for (int i = 0; i < 100; ++i)
    EXPECT_LE(pace.after(seconds(100), kBegin), RefusalPace::kLongest);
  EXPECT_EQ(pace.after(seconds(100), kBegin), RefusalPace::kLongest);
  EXPECT_EQ(pace.after(milliseconds(0), kBegin + seconds(2)).count(), 0);
}

}  // namespace
}  // namespace latebind::server
