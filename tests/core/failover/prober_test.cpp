#include "core/failover/prober.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "tests/support/latch.h"

namespace latebind::core {
namespace {

using Clock = Prober::Clock;

// Tasks that do what the test says, and own the prober as a PlacedModel's state does.
class Script final : public Prober::Tasks {
 public:
  using Step = std::function<std::optional<Clock::time_point>(int number)>;
  explicit Script(Step step) : step_(std::move(step)) {}

  std::optional<Clock::time_point> do_next_task() override { return step_(calls++); }

  std::atomic<int> calls{0};
  Prober prober;

 private:
  const Step step_;
};

TEST(ProberTest, AsksAgainAtOnceUntilNothingIsDueAndAfterAWake) {
  test::Latch first(3);
  test::Latch woken(1);
  const auto script = std::make_shared<Script>([&](int number) {
    if (number < 3) first.count_down();
    if (number == 3) woken.count_down();
    return number < 2 ? std::optional(Clock::now()) : std::nullopt;
  });
  script->prober.wake(script);
  first.wait();
  script->prober.wake(script);
  woken.wait();
  script->prober.stop();
  EXPECT_GE(script->calls, 4);
}

TEST(ProberTest, ATaskIsAskedForWhenItIsDue) {
  test::Latch second(1);
  const auto began = Clock::now();
  const auto script = std::make_shared<Script>([&](int number) {
    if (number == 1) second.count_down();
    return number == 0 ? std::optional(began + std::chrono::milliseconds(30)) : std::nullopt;
  });
  script->prober.wake(script);
  second.wait();
  EXPECT_GE(Clock::now(), began + std::chrono::milliseconds(30));
  script->prober.stop();
}

TEST(ProberTest, GoesOnAfterALackOfMemory) {
  test::Latch again(1);
  const auto script = std::make_shared<Script>([&](int number) -> std::optional<Clock::time_point> {
    if (number == 0) throw std::bad_alloc();
    again.count_down();
    return std::nullopt;
  });
  script->prober.wake(script);
  again.wait();
  script->prober.stop();
}

TEST(ProberTest, AfterStopNothingIsDone) {
  const auto script = std::make_shared<Script>([](int) { return std::nullopt; });
  script->prober.stop();
  script->prober.wake(script);
  EXPECT_EQ(script->calls, 0);
}

TEST(ProberTest, StopLeavesATaskThatDoesNotReturnAndWhatItUsesLivesOn) {
  const auto entered = std::make_shared<test::Latch>(1);
  const auto let_go = std::make_shared<test::Latch>(1);
  auto script = std::make_shared<Script>([entered, let_go](int) {
    entered->count_down();
    let_go->wait();
    return std::nullopt;
  });
  const std::weak_ptr<Script> alive = script;
  script->prober.wake(script);
  entered->wait();
  const auto began = Clock::now();
  script->prober.stop();
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(60));
  script = nullptr;
  EXPECT_FALSE(alive.expired()) << "the thread uses it";
  let_go->count_down();
  while (!alive.expired())
    std::this_thread::yield();
}

}  // namespace
}  // namespace latebind::core
