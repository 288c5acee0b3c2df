// Turns: one at a time, none for longer than the limit, and what hangs holds up nobody's end.
#include "backends/onnxruntime/one_at_a_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "backends/onnxruntime/executable.h"
#include "backends/onnxruntime/load.h"
#include "backends/onnxruntime/session.h"
#include "core/vendor/vendor_call.h"
#include "tests/onnxruntime/fake_library.h"

namespace latebind::onnxruntime {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(OneAtATimeTest, ATurnIsGivenBackToTheNext) {
  OneAtATime turns;
  std::optional first = *turns.take();
  std::promise<void> got;
  std::thread other([&] {
    const auto second = turns.take();
    EXPECT_TRUE(second.ok());
    got.set_value();
  });
  EXPECT_EQ(got.get_future().wait_for(milliseconds(20)), std::future_status::timeout);
  first.reset();
  other.join();
}

TEST(OneAtATimeTest, WhoeverWaitsTooLongIsToldWhatToDo) {
  OneAtATime turns({.turn = milliseconds(30), .end = milliseconds(10)});
  const auto held = turns.take();
  const auto refused = turns.take();
  EXPECT_EQ(refused.status().code(), core::StatusCode::kBusy);
  EXPECT_THAT(refused.status().to_string(), HasSubstr("one model at a time"));
  const auto stopped = turns.take([] { return true; });
  EXPECT_TRUE(stopped.ok() && *stopped == nullptr);
}

TEST(OneAtATimeTest, ASessionThatGetsNoTurnEndsWithTheOneThatWasTaken) {
  OneAtATime turns({.turn = milliseconds(30), .end = milliseconds(10)});
  std::optional held = *turns.take();
  auto session = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = session;
  turns.end(std::move(session));
  EXPECT_FALSE(seen.expired()) << "somebody is in the provider";
  held.reset();
  EXPECT_TRUE(seen.expired());
  auto next = std::make_shared<int>(2);
  const std::weak_ptr<int> seen_next = next;
  turns.end(std::move(next));
  EXPECT_TRUE(seen_next.expired());
}

TEST(OneAtATimeTest, ASessionOfTheProviderIsReleasedByWhoeverHasTheTurn) {
  static int released;
  released = 0;
  OneAtATime turns({.turn = milliseconds(30), .end = milliseconds(10)});
  const auto made = [&] {
    Session session;
    session.one_at_a_time = &turns;
    session.handle = Owned<abi::Session>(reinterpret_cast<abi::Session*>(&released), [](abi::Session*) { ++released; });
    return session;
  };
  {
    std::optional hangs = *turns.take();
    { const Session ended = made(); }
    EXPECT_EQ(released, 0) << "another one is in the provider";
    EXPECT_EQ(made().turn().status().code(), core::StatusCode::kBusy);
    EXPECT_EQ(released, 0);
    hangs.reset();
    EXPECT_EQ(released, 2);
  }
  { const Session ended = made(); }
  EXPECT_EQ(released, 3);
}

TEST(OneAtATimeTest, ARunThatHangsKeepsNoOtherSessionFromEnding) {
  test::FakeLibrary library;
  OneAtATime turns({.turn = milliseconds(30), .end = milliseconds(10)});
  {
    auto opened = open_library(library.file().string());
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const auto environment = Environment::create(*std::move(opened));
    ASSERT_TRUE(environment.ok()) << environment.status().to_string();
    core::ModelForm form;
    form.graph = core::SharedBytes::from_string("anything");
    const auto model = core::Model::from_forms("tiny", {form});
    const auto load = [&] {
      auto session = load_model(*environment, model, {});
      EXPECT_TRUE(session.ok()) << session.status().to_string();
      session->one_at_a_time = &turns;
      core::ActiveConfig active;
      active.backend = "onnxruntime";
      active.device = "OneAtATime";
      return *OnnxruntimeExecutable::create(*std::move(session), active);
    };
    std::vector<float> input{1, 2, 3};
    core::TensorView view;
    view.data = input.data();
    view.shape = core::Shape{3};
    core::OutputTensor output;
    const auto run = [&](core::Executable& executable, milliseconds timeout) {
      return executable.execute({&view, 1}, {&output, 1}, {.run_timeout = timeout});
    };
    const auto hanging = load();
    auto other = load();
    library.state().run_hangs = true;
    library.state().stop_is_ignored = true;
    EXPECT_THAT(run(*hanging, milliseconds(50)).to_string(), HasSubstr("hung"));
    // Another run has no turn, and says so.
    EXPECT_THAT(run(*other, std::chrono::seconds(30)).to_string(), HasSubstr("one model at a time"));
    const int alive = library.state().alive;
    other.reset();
    EXPECT_GE(library.state().alive, alive - 1) << "its session was released, while a run was in the provider";

    library.state().run_hangs = false;
    while (core::given_up_calls() != 0)
      std::this_thread::yield();
  }
  EXPECT_EQ(library.state().alive, 0) << "what was left was not released";
}

}  // namespace
}  // namespace latebind::onnxruntime
