#include "server/observe/recent_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <vector>

namespace latebind::server {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

const RecentWindow::Clock::time_point kStart{std::chrono::hours(5)};

BatchRecord batch_of(std::size_t texts, std::uint64_t tokens, std::uint64_t computed) {
  BatchRecord batch;
  batch.texts = texts;
  batch.tokens = tokens;
  batch.computed_tokens = computed;
  return batch;
}

TEST(RecentWindowTest, IsZeroBeforeAnything) {
  const RecentFigures figures = RecentWindow(kStart).figures(kStart);
  EXPECT_EQ(figures.requests_per_s, 0);
  EXPECT_EQ(figures.p99_ms, 0);
  EXPECT_EQ(figures.padding_ratio, 0);
}

TEST(RecentWindowTest, PercentilesAreWithinFivePercent) {
  RecentWindow window(kStart);
  std::mt19937 random(7);
  std::lognormal_distribution<double> ms(2.0, 1.5);
  std::vector<double> all;
  for (int i = 0; i < 5000; ++i) {
    const auto time = microseconds(static_cast<long>(ms(random) * 1000) + 20);
    all.push_back(std::chrono::duration<double, std::milli>(time).count());
    window.add_request(kStart + milliseconds(i), time);
  }
  std::sort(all.begin(), all.end());
  const auto exact = [&](double part) {
    return all[static_cast<std::size_t>(std::ceil(part * static_cast<double>(all.size()))) - 1];
  };
  const RecentFigures figures = window.figures(kStart + seconds(6));
  EXPECT_NEAR(figures.p50_ms, exact(0.50), 0.05 * exact(0.50));
  EXPECT_NEAR(figures.p95_ms, exact(0.95), 0.05 * exact(0.95));
  EXPECT_NEAR(figures.p99_ms, exact(0.99), 0.05 * exact(0.99));
}

TEST(RecentWindowTest, RatesAreOfTheTimeThatHasPassedUntilThatIsAFewSeconds) {
  RecentWindow window(kStart);
  window.add_batch(kStart, batch_of(20, 200, 200));
  EXPECT_DOUBLE_EQ(window.figures(kStart + milliseconds(10)).texts_per_s, 20);
  EXPECT_DOUBLE_EQ(window.figures(kStart + seconds(4)).texts_per_s, 5);
  for (int second = 1; second < 300; ++second) {
    window.add_request(kStart + seconds(second), milliseconds(1));
    window.add_batch(kStart + seconds(second), batch_of(20, 200, 200));
  }
  const RecentFigures figures = window.figures(kStart + milliseconds(299'999));
  EXPECT_NEAR(figures.requests_per_s, 1, 0.01);
  EXPECT_NEAR(figures.texts_per_s, 20, 0.1);
  EXPECT_NEAR(figures.tokens_per_s, 200, 2);
}

TEST(RecentWindowTest, RatesAreThoseOfNowAfterALongRest) {
  RecentWindow window(kStart);
  for (int second = 595; second < 600; ++second)
    window.add_batch(kStart + seconds(second), batch_of(100, 1000, 1000));
  EXPECT_NEAR(window.figures(kStart + milliseconds(599'999)).texts_per_s, 100, 0.1);
  EXPECT_EQ(window.figures(kStart + seconds(606)).texts_per_s, 0);
}

TEST(RecentWindowTest, ForgetsWhatIsOlderThanAMinute) {
  RecentWindow window(kStart);
  window.add_request(kStart, seconds(30));
  window.add_batch(kStart, batch_of(1, 10, 100));
  window.add_request(kStart + seconds(59), milliseconds(1));
  window.add_batch(kStart + seconds(59), batch_of(1, 90, 100));
  EXPECT_NEAR(window.figures(kStart + seconds(59)).p99_ms, 30'000, 1'500);
  EXPECT_DOUBLE_EQ(window.figures(kStart + seconds(59)).padding_ratio, 0.5);
  EXPECT_NEAR(window.figures(kStart + seconds(60)).p99_ms, 1, 0.05);
  EXPECT_DOUBLE_EQ(window.figures(kStart + seconds(60)).padding_ratio, 0.1);
  EXPECT_EQ(window.figures(kStart + seconds(119)).requests_per_s, 0);
  // A slot that is used again begins empty.
  window.add_request(kStart + seconds(600), milliseconds(1));
  EXPECT_NEAR(window.figures(kStart + seconds(600)).p99_ms, 1, 0.05);
}

TEST(RecentWindowTest, ALateThreadDoesNotOpenAnOldSecondAgain) {
  RecentWindow window(kStart);
  window.add_request(kStart + seconds(70), milliseconds(1));
  window.add_request(kStart + seconds(9), milliseconds(1));
  EXPECT_NEAR(window.figures(kStart + seconds(70)).requests_per_s, 2.0 / 4, 0.001);
}

TEST(RecentWindowTest, TimesBeyondTheBucketsAreInTheLastOnes) {
  RecentWindow window(kStart);
  window.add_request(kStart, std::chrono::hours(3));
  EXPECT_GT(window.figures(kStart).p50_ms, 600'000);
  RecentWindow other(kStart);
  other.add_request(kStart, microseconds(-5));
  EXPECT_LT(other.figures(kStart).p50_ms, 0.02);
}

}  // namespace
}  // namespace latebind::server
