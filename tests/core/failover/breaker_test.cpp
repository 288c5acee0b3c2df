#include "core/failover/breaker.h"

#include <gtest/gtest.h>

#include <chrono>

namespace latebind::core {
namespace {

using std::chrono::milliseconds;

BreakerPolicy exact() {
  BreakerPolicy policy;
  policy.backoff_first = milliseconds(100);
  policy.backoff_most = milliseconds(350);
  policy.jitter = 0;
  return policy;
}

const Breaker::Clock::time_point kStart{};

TEST(BreakerTest, OpensOnFailureAndIsProbedAfterTheBackoffOnly) {
  Breaker breaker(exact());
  EXPECT_TRUE(breaker.is_closed());
  EXPECT_FALSE(breaker.probe_due());
  EXPECT_TRUE(breaker.failed(kStart));
  EXPECT_EQ(breaker.state(), Breaker::State::kOpen);
  EXPECT_EQ(breaker.probe_due(), kStart + milliseconds(100));
  EXPECT_FALSE(breaker.begin_probe(kStart + milliseconds(99)));
  EXPECT_TRUE(breaker.begin_probe(kStart + milliseconds(100)));
  EXPECT_EQ(breaker.state(), Breaker::State::kHalfOpen);
  EXPECT_FALSE(breaker.begin_probe(kStart + milliseconds(100)));
}

TEST(BreakerTest, ReportsFromBeforeItOpenedCountForNothing) {
  Breaker breaker(exact());
  const auto before = breaker.openings();
  EXPECT_TRUE(breaker.failed_since(before, kStart));
  EXPECT_FALSE(breaker.succeeded_since(before));
  EXPECT_EQ(breaker.state(), Breaker::State::kOpen);
  // A request that tried it all the same, since nothing else was left.
  EXPECT_TRUE(breaker.succeeded_since(breaker.openings()));
  EXPECT_TRUE(breaker.is_closed());
  // One that took until now to fail on the device as it was.
  EXPECT_FALSE(breaker.failed_since(before, kStart));
  EXPECT_TRUE(breaker.is_closed());
}

TEST(BreakerTest, BackoffGrowsToTheCapAndStartsAnewAfterSuccess) {
  Breaker breaker(exact());
  auto now = kStart;
  for (const int expected : {100, 200, 350, 350}) {
    EXPECT_TRUE(breaker.failed(now));
    EXPECT_EQ(*breaker.probe_due() - now, milliseconds(expected));
    now = *breaker.probe_due();
    ASSERT_TRUE(breaker.begin_probe(now));
  }
  breaker.succeeded();
  EXPECT_TRUE(breaker.is_closed());
  EXPECT_TRUE(breaker.failed(now));
  EXPECT_EQ(*breaker.probe_due() - now, milliseconds(100));
}

TEST(BreakerTest, ToleratesAsManyFailuresInARowAsThePolicySays) {
  BreakerPolicy policy = exact();
  policy.failures_to_open = 3;
  Breaker breaker(policy);
  EXPECT_FALSE(breaker.failed(kStart));
  EXPECT_FALSE(breaker.failed(kStart));
  breaker.succeeded();
  EXPECT_FALSE(breaker.failed(kStart));
  EXPECT_FALSE(breaker.failed(kStart));
  EXPECT_TRUE(breaker.is_closed());
  EXPECT_TRUE(breaker.failed(kStart));
  EXPECT_FALSE(breaker.is_closed());
}

TEST(BreakerTest, LateFailuresDoNotProlongTheRest) {
  Breaker breaker(exact());
  EXPECT_TRUE(breaker.failed(kStart));
  EXPECT_FALSE(breaker.failed(kStart + milliseconds(50)));
  EXPECT_EQ(breaker.probe_due(), kStart + milliseconds(100));
}

TEST(BreakerTest, JitterOnlyLengthensAndWithinItsShare) {
  BreakerPolicy policy = exact();
  policy.jitter = 0.5;
  bool differed = false;
  for (std::uint32_t seed = 1; seed < 50; ++seed) {
    Breaker breaker(policy, seed);
    breaker.failed(kStart);
    const auto rest = *breaker.probe_due() - kStart;
    EXPECT_GE(rest, milliseconds(100));
    EXPECT_LE(rest, milliseconds(150));
    differed = differed || rest != milliseconds(100);
  }
  EXPECT_TRUE(differed);
}

}  // namespace
}  // namespace latebind::core
