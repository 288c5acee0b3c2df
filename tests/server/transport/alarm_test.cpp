#include "server/transport/alarm.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace latebind::server {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kNothing = Alarm::Clock::time_point::max();

class AlarmTest : public testing::Test {
 protected:
  boost::asio::io_context io_;
};

Alarm::Ring count(unsigned& rings) {
  return [&rings](Alarm::Clock::time_point) {
    ++rings;
    return kNothing;
  };
}

TEST_F(AlarmTest, SleepsWhereNothingIsDue) {
  unsigned rings = 0;
  Alarm alarm(io_, milliseconds(0), count(rings));
  EXPECT_EQ(io_.run(), 0U);  // it returns because nothing is waited for
  EXPECT_EQ(rings, 0U);
}

TEST_F(AlarmTest, RingsOnceAndThenSleeps) {
  unsigned rings = 0;
  Alarm alarm(io_, milliseconds(0), count(rings));
  alarm.ring_by(Alarm::Clock::now() + milliseconds(2));
  io_.run();
  EXPECT_EQ(rings, 1U);
}

TEST_F(AlarmTest, TheFirstTimeCountsWhateverTheOrder) {
  for (const bool is_first : {false, true}) {
    Alarm::Clock::time_point rang;
    Alarm alarm(io_, milliseconds(0), [&](Alarm::Clock::time_point now) {
      rang = now;
      io_.stop();
      return kNothing;
    });
    const auto soon = Alarm::Clock::now() + milliseconds(5);
    if (is_first) alarm.ring_by(soon);
    alarm.ring_by(soon + hours(1));
    if (!is_first) alarm.ring_by(soon);
    io_.restart();
    io_.run_for(seconds(60));
    EXPECT_GE(rang, soon) << is_first;
  }
}

TEST_F(AlarmTest, RingsForWhatIsDueNext) {
  std::vector<Alarm::Clock::time_point> rings;
  Alarm alarm(io_, milliseconds(0), [&](Alarm::Clock::time_point now) {
    rings.push_back(now);
    return rings.size() < 3 ? now + milliseconds(3) : kNothing;
  });
  alarm.ring_by(Alarm::Clock::now());
  io_.run();
  ASSERT_EQ(rings.size(), 3U);
  EXPECT_GE(rings[1] - rings[0], milliseconds(3));
  EXPECT_GE(rings[2] - rings[1], milliseconds(3));
}

TEST_F(AlarmTest, RestsBetweenTwoRings) {
  constexpr milliseconds kRest(30);
  std::vector<Alarm::Clock::time_point> rings;
  Alarm* given = nullptr;
  Alarm alarm(io_, kRest, [&](Alarm::Clock::time_point now) {
    rings.push_back(now);
    // Many times that pass one after the other.
    for (int i = 0; rings.size() == 1 && i < 10; ++i)
      given->ring_by(now + milliseconds(10 - i));
    return kNothing;
  });
  given = &alarm;
  alarm.ring_by(Alarm::Clock::now());
  io_.run();
  ASSERT_EQ(rings.size(), 2U);
  EXPECT_GE(rings[1] - rings[0], kRest);
}

TEST_F(AlarmTest, RingsNoMoreOnceItIsStopped) {
  unsigned rings = 0;
  Alarm alarm(io_, milliseconds(0), count(rings));
  alarm.ring_by(Alarm::Clock::now() + hours(1));
  alarm.stop();
  alarm.ring_by(Alarm::Clock::now());
  io_.run();
  EXPECT_EQ(rings, 0U);
}

TEST_F(AlarmTest, WhatIsGivenWhileItRingsCounts) {
  unsigned rings = 0;
  Alarm* given = nullptr;
  Alarm alarm(io_, milliseconds(0), [&](Alarm::Clock::time_point now) {
    // By another thread, after this one has looked at what is due.
    if (++rings == 1) std::thread([&] { given->ring_by(now); }).join();
    return kNothing;
  });
  given = &alarm;
  alarm.ring_by(Alarm::Clock::now());
  io_.run();
  EXPECT_EQ(rings, 2U);
}

}  // namespace
}  // namespace latebind::server
