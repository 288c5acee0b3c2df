#include "server/deadlines.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace latebind::server {
namespace {

using std::chrono::seconds;

class DeadlinesTest : public testing::Test {
 protected:
  ExchangePtr make(int until) {
    auto exchange =
        std::make_shared<Exchange>(HttpRequest{}, [this](HttpResponse response) { sent_.push_back(response.status); });
    exchange->before_answer([this](const Exchange& answered, HttpResponse&) { deadlines_.forget(answered); });
    deadlines_.add(exchange, at(until), own_protocol());
    return exchange;
  }
  [[nodiscard]] Deadlines::Clock::time_point at(int second) const { return start_ + seconds(second); }

  static constexpr auto kNone = Deadlines::Clock::time_point::max();
  const Deadlines::Clock::time_point start_ = Deadlines::Clock::now();
  Deadlines deadlines_;
  std::vector<unsigned> sent_;
};

TEST_F(DeadlinesTest, WithoutRequestsNothingIsDue) {
  EXPECT_EQ(deadlines_.end_late(at(0)), kNone);
}

TEST_F(DeadlinesTest, EndsThoseWhoseTimeIsUpAndSaysWhenTheNextIs) {
  const auto third = make(3);
  const auto first = make(1);
  const auto second = make(2);
  EXPECT_EQ(deadlines_.end_late(at(0)), at(1));
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(deadlines_.end_late(at(2)), at(3));
  EXPECT_EQ(sent_, (std::vector<unsigned>{504, 504}));
  EXPECT_TRUE(first->gone().is_requested());
  EXPECT_TRUE(second->gone().is_requested());
  EXPECT_FALSE(third->is_answered());
  EXPECT_FALSE(third->gone().is_requested());
  EXPECT_EQ(deadlines_.end_late(at(3)), kNone);
  EXPECT_EQ(sent_.size(), 3U);
}

// One that took a minute at most would else be kept for a minute after each answer.
TEST_F(DeadlinesTest, KeepsNothingOfWhatIsAnswered) {
  const auto open = make(9);
  const auto answered = make(5);
  make(6).reset();  // by its end
  EXPECT_EQ(sent_, (std::vector<unsigned>{500}));
  HttpResponse response;
  answered->answer(std::move(response));
  EXPECT_EQ(deadlines_.size(), 1U);
  EXPECT_EQ(deadlines_.end_late(at(0)), at(9));
}

TEST_F(DeadlinesTest, AnAnswerThatComesWhileItsTimePassesCounts) {
  const auto exchange =
      std::make_shared<Exchange>(HttpRequest{}, [this](HttpResponse response) { sent_.push_back(response.status); });
  deadlines_.add(exchange, at(1), own_protocol());
  exchange->answer(HttpResponse{});  // and forget() is yet to come
  EXPECT_EQ(deadlines_.end_late(at(1)), kNone);
  EXPECT_EQ(sent_, (std::vector<unsigned>{200}));
  EXPECT_FALSE(exchange->gone().is_requested());
}

}  // namespace
}  // namespace latebind::server
