// Many threads at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "embedding/schedule/scheduler.h"
#include "tests/embedding/schedule/scheduler_rig.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/embedding/toy_texts.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using schedule_test::Client;
using schedule_test::How;
using schedule_test::Ids;
using schedule_test::ids_of;
using schedule_test::kNoNumber;
using schedule_test::Rig;
using schedule_test::text_of;
using schedule_test::texts_of;
using schedule_test::until;
using schedule_test::wait_for_those_given_up;
using schedule_test::within;
using test::kToyDimension;

TEST(SchedulerThreadsTest, ManyThreadsGetTheirOwnVectors) {
  Rig rig({.requests = 3, .batch_tokens = 64});
  const auto all = ids_of(test::mixed_texts(200));
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<Ids> mine(all.begin() + static_cast<std::ptrdiff_t>(t * 10), all.end());
      for (int round = 0; round < 5; ++round) {
        Client client(rig, mine, {.caller_helps = true});
        client.expect_right();
        good += client.submission.stats().texts == mine.size() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(good, 40);
}

// What one thread does, over and over: hands over some texts in some way, and perhaps waits for them.
class Visitor {
 public:
  Visitor(Rig& rig, unsigned seed) : rig_(rig), random_(seed) {}

  void visit() {
    std::vector<Ids> texts(one_of(4) == 0 ? one_of(60) : 1 + one_of(3));
    std::ptrdiff_t bad = -1;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool is_bad = one_of(400) == 0;
      if (is_bad && bad < 0) bad = static_cast<std::ptrdiff_t>(i);
      texts[i] = text_of(is_bad ? kNoNumber : static_cast<std::int32_t>(100 + one_of(5000)), 3 + one_of(40));
    }
    const auto cancellation = core::Cancellation::create();
    How how{.alone = one_of(4) == 0, .caller_helps = one_of(2) == 0};
    switch (one_of(4)) {
      case 0:
        how.limits = within(std::chrono::microseconds(one_of(400)));
        break;
      case 1:
        how.limits = until(cancellation);
        break;
      default:
        break;
    }
    std::vector<float> memory(texts.size() * kToyDimension);
    const bool direct = !how.limits.is_bounded() && one_of(2) == 0;
    if (direct) how.out = memory.data();
    const core::RunOptions limits = how.limits;
    Client client(rig_, std::move(texts), how);
    if (!client.refusal.ok()) {
      EXPECT_EQ(client.refusal.code(), StatusCode::kBusy);
      return;
    }
    if (one_of(8) == 0) return;  // drops it
    if (one_of(8) == 0) (void)client.submission.help(limits);
    // Somebody else cancels, at some time.
    std::thread canceller;
    if (limits.cancellation.can_be_requested() && one_of(2) == 0) {
      canceller = std::thread([cancellation] { cancellation.request(); });
    }
    const Status status = client.submission.wait(limits);
    if (canceller.joinable()) canceller.join();
    if (status.ok()) {
      EXPECT_EQ(bad, -1);
      ++answered;
      client.expect_vectors(direct ? std::span<const float>(memory) : client.submission.vectors());
    } else if (status.code() == StatusCode::kInternal) {
      EXPECT_GE(bad, 0) << status.to_string();
    } else if (status.code() == StatusCode::kDeadlineExceeded) {
      EXPECT_TRUE(limits.deadline) << status.to_string();
    } else {
      EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.to_string();
      EXPECT_TRUE(limits.cancellation.is_requested());
    }
  }

  int answered = 0;

 private:
  std::size_t one_of(std::size_t count) { return random_() % count; }

  Rig& rig_;
  std::mt19937 random_;
};

TEST(SchedulerThreadsTest, EveryAnswerAmongThousandsIsOnesOwn) {
  for (const std::size_t threads_of_team : {3U, 0U}) {
    Rig rig({.requests = 3, .batch_tokens = 256, .threads = threads_of_team});
    std::atomic<int> answered = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        Visitor visitor(rig, 100 + t);
        for (int round = 0; round < 300; ++round)
          visitor.visit();
        answered += visitor.answered;
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    EXPECT_GT(answered, 1000);
    wait_for_those_given_up();
    Client last(rig, texts_of(5, 8, 3));
    last.expect_right();
  }
}

}  // namespace
}  // namespace latebind::embedding
