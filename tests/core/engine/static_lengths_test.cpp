#include "core/engine/static_lengths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <thread>

#include "tests/support/latch.h"

namespace latebind::core {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// Inputs ids and mask, f32 [rows, length]. Outputs: the sum of ids * mask of each row, [rows, 1], and each id plus one,
// [rows, length, 1]. Refuses what has not exactly its shape, as a device of static shapes does.
class FixedExecutable final : public Executable {
 public:
  explicit FixedExecutable(const Shape& shape)
      : inputs_{{"ids", ElementType::kF32, shape}, {"mask", ElementType::kF32, shape}},
        outputs_{{"sum", ElementType::kF32, {shape[0], 1}}, {"next", ElementType::kF32, {shape[0], shape[1], 1}}} {
    active_.device = "NPU";
  }
  std::span<const TensorInfo> inputs() const override { return inputs_; }
  std::span<const TensorInfo> outputs() const override { return outputs_; }
  const ActiveConfig& active() const override { return active_; }
  Status run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs, const RunOptions&) override {
    const auto rows = static_cast<std::size_t>(inputs_[0].shape[0]);
    const auto length = static_cast<std::size_t>(inputs_[0].shape[1]);
    LB_ASSIGN_OR_RETURN(void* const sum, outputs[0].prepare(ElementType::kF32, outputs_[0].shape));
    LB_ASSIGN_OR_RETURN(void* const next, outputs[1].prepare(ElementType::kF32, outputs_[1].shape));
    const auto* ids = static_cast<const float*>(inputs[0].data);
    const auto* mask = static_cast<const float*>(inputs[1].data);
    for (std::size_t row = 0; row < rows; ++row) {
      float total = 0;
      for (std::size_t i = row * length; i < (row + 1) * length; ++i) {
        total += ids[i] * mask[i];
        static_cast<float*>(next)[i] = ids[i] + 1;
      }
      static_cast<float*>(sum)[row] = total;
    }
    ++runs;
    return {};
  }
  static inline std::atomic<int> runs{0};

 private:
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  ActiveConfig active_;
};

class StaticLengthsTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Executable>> make(const StaticLengthOptions& options) {
    return load_static_lengths(
        [this](const Shape& shape) -> Result<std::unique_ptr<Executable>> {
          {
            const std::lock_guard lock(mutex_);
            loaded_.push_back(shape[1]);
            loads_.notify_all();
          }
          if (const auto found = gates_.find(shape[1]); found != gates_.end()) found->second->wait();
          if (shape[1] == no_memory_for_) throw std::bad_alloc();
          if (const auto found = refusals_.find(shape[1]); found != refusals_.end()) return found->second;
          ++finished_;
          return std::unique_ptr<Executable>(std::make_unique<FixedExecutable>(shape));
        },
        options);
  }

  // Rows of `length` ids that count up from 1; the answer of each row, and its ids plus one, are checked.
  static void expect_right(Executable& executable, std::size_t rows, std::size_t length) {
    std::vector<float> ids(rows * length);
    std::iota(ids.begin(), ids.end(), 1.0F);
    std::vector<float> mask(ids.size(), 1.0F);
    const Shape shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(length)};
    const std::vector<TensorView> inputs{{ids.data(), ElementType::kF32, shape, {}},
                                         {mask.data(), ElementType::kF32, shape, {}}};
    std::vector<OutputTensor> outputs(2);
    const Status status = executable.execute(inputs, outputs, {});
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(outputs[0].view().shape, (Shape{shape[0], 1}));
    EXPECT_EQ(outputs[1].view().shape, (Shape{shape[0], shape[1], 1}));
    for (std::size_t row = 0; row < rows; ++row) {
      const auto first = ids.begin() + static_cast<std::ptrdiff_t>(row * length);
      EXPECT_EQ(static_cast<const float*>(outputs[0].view().data)[row],
                std::accumulate(first, first + static_cast<std::ptrdiff_t>(length), 0.0F));
    }
    for (std::size_t i = 0; i < ids.size(); ++i)
      EXPECT_EQ(static_cast<const float*>(outputs[1].view().data)[i], ids[i] + 1);
  }

  // Runs one row of `length` ids.
  static Status run(Executable& executable, std::size_t length, const RunOptions& options) {
    std::vector<float> data(length);
    const std::vector<TensorView> inputs(
        2, TensorView{data.data(), ElementType::kF32, {1, static_cast<std::int64_t>(length)}, {}});
    std::vector<OutputTensor> outputs(2);
    return executable.execute(inputs, outputs, options);
  }

  std::map<std::int64_t, Status> refusals_;
  std::map<std::int64_t, std::shared_ptr<test::Latch>> gates_;  // compiling waits there
  std::atomic<std::int64_t> no_memory_for_{0};
  std::atomic<int> finished_{0};
  std::mutex mutex_;
  std::condition_variable loads_;
  std::vector<std::int64_t> loaded_;  // guarded by mutex_
};

TEST_F(StaticLengthsTest, TakesAnyShapeUpToTheLongestLength) {
  auto made = make({.lengths = {4, 8, 16}, .inputs = 2, .rows = 2});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  for (const std::size_t rows : {1U, 2U, 3U, 5U})
    for (const std::size_t length : {1U, 3U, 4U, 5U, 8U, 9U, 16U})
      expect_right(**made, rows, length);
  EXPECT_EQ((*made)->inputs()[0].shape, (Shape{kDynamic, kDynamic}));
  EXPECT_EQ((*made)->outputs()[0].shape, (Shape{kDynamic, 1}));
  EXPECT_EQ((*made)->outputs()[1].shape, (Shape{kDynamic, kDynamic, 1}));
  EXPECT_THAT((*made)->active().static_lengths, ElementsAre(4, 8, 16));
  EXPECT_EQ((*made)->active().static_rows, 2U);
}

TEST_F(StaticLengthsTest, LoadsALengthWhenItIsFirstNeededAndOnce) {
  auto made = make({.lengths = {4, 8, 16}, .inputs = 2});
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(loaded_, ElementsAre(4));
  expect_right(**made, 1, 16);
  expect_right(**made, 1, 10);
  EXPECT_THAT(loaded_, ElementsAre(4, 16));
  expect_right(**made, 1, 8);
  EXPECT_THAT(loaded_, ElementsAre(4, 16, 8));
}

TEST_F(StaticLengthsTest, PreparesAllOfThem) {
  auto made = make({.lengths = {4, 8}, .inputs = 2});
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE((*made)->prepare().ok());
  EXPECT_THAT(loaded_, ElementsAre(4, 8));
}

TEST_F(StaticLengthsTest, PreloadsInTheBackgroundShortestFirst) {
  auto made = make({.lengths = {4, 8, 16}, .inputs = 2, .preload = true});
  ASSERT_TRUE(made.ok());
  std::unique_lock lock(mutex_);
  loads_.wait(lock, [&] { return loaded_.size() == 3; });
  EXPECT_THAT(loaded_, ElementsAre(4, 8, 16));
}

TEST_F(StaticLengthsTest, ALongerLengthStandsInForOneThatDoesNotCompile) {
  refusals_[4] = Status(StatusCode::kDeviceFailed, "too short for me");
  refusals_[8] = Status(StatusCode::kDeviceFailed, "not this one");
  auto made = make({.lengths = {4, 8, 16}, .inputs = 2});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  expect_right(**made, 1, 3);
  expect_right(**made, 2, 7);
  EXPECT_THAT(loaded_, ElementsAre(4, 8, 16));
}

TEST_F(StaticLengthsTest, ALengthThatDidNotCompileIsTriedAgainAfterAWhile) {
  refusals_[4] = Status(StatusCode::kDeviceFailed, "the device was away");
  refusals_[8] = Status(StatusCode::kDeviceFailed, "the device was away");
  auto made = make({.lengths = {4, 8, 16}, .inputs = 2, .patience = std::chrono::hours(1)});
  ASSERT_TRUE(made.ok());
  refusals_.clear();
  expect_right(**made, 1, 3);
  EXPECT_THAT(loaded_, ElementsAre(4, 8, 16)) << "not at once";

  refusals_[4] = Status(StatusCode::kDeviceFailed, "the device was away");
  made = make({.lengths = {4, 8}, .inputs = 2, .patience = std::chrono::milliseconds(0)});
  ASSERT_TRUE(made.ok());
  loaded_.clear();
  expect_right(**made, 1, 3);
  refusals_.clear();
  expect_right(**made, 1, 3);
  expect_right(**made, 1, 3);
  EXPECT_THAT(loaded_, ElementsAre(4, 4)) << "once in vain, and then it is there";
}

TEST_F(StaticLengthsTest, WithoutALongerLengthTheDeviceCannotTakeIt) {
  refusals_[16] = Status(StatusCode::kInvalidModel, "no");
  auto made = make({.lengths = {4, 16}, .inputs = 2});
  ASSERT_TRUE(made.ok());
  std::vector<float> data(9);
  const std::vector<TensorView> inputs(2, TensorView{data.data(), ElementType::kF32, {1, 9}, {}});
  std::vector<OutputTensor> outputs(2);
  const Status status = (*made)->execute(inputs, outputs, {});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.to_string(), HasSubstr("length 9"));
  expect_right(**made, 1, 4);
}

TEST_F(StaticLengthsTest, WhatNoLengthTakesIsTheCallersMistake) {
  auto made = make({.lengths = {4}, .inputs = 2});
  ASSERT_TRUE(made.ok());
  std::vector<float> data(10);
  const TensorView five{data.data(), ElementType::kF32, {1, 5}, {}};
  const TensorView four{data.data(), ElementType::kF32, {1, 4}, {}};
  std::vector<OutputTensor> outputs(2);
  EXPECT_EQ((*made)->execute(std::vector{five, five}, outputs, {}).code(), StatusCode::kShapeMismatch);
  EXPECT_EQ((*made)->execute(std::vector{four, five}, outputs, {}).code(), StatusCode::kShapeMismatch);
  EXPECT_EQ((*made)->execute(std::vector{four}, outputs, {}).code(), StatusCode::kCountMismatch);
  std::vector<OutputTensor> one(1);
  EXPECT_EQ((*made)->execute(std::vector{four, four}, one, {}).code(), StatusCode::kCountMismatch);
}

TEST_F(StaticLengthsTest, NothingThatLoadsIsTheFirstRefusal) {
  refusals_[4] = Status(StatusCode::kDeviceNotFound, "gone");
  EXPECT_EQ(make({.lengths = {4}, .inputs = 2}).status().code(), StatusCode::kDeviceNotFound);
  EXPECT_EQ(make({.lengths = {8, 4}, .inputs = 2}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(make({.lengths = {}, .inputs = 2}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(StaticLengthsTest, CompilingKeepsNobodyBeyondHisDeadlineAndGoesOnOnce) {
  gates_[16] = std::make_shared<test::Latch>(1);
  auto made = make({.lengths = {4, 16}, .inputs = 2});
  ASSERT_TRUE(made.ok());
  for (int i = 0; i < 5; ++i) {
    const Status status = run(**made, 16, {.deadline = Clock::now() + milliseconds(5)});
    EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
  }
  const auto cancellation = Cancellation::create();
  std::thread waiting(
      [&] { EXPECT_EQ(run(**made, 16, {.cancellation = cancellation}).code(), StatusCode::kCancelled); });
  cancellation.request();
  waiting.join();
  EXPECT_TRUE(run(**made, 4, {.deadline = Clock::now() + std::chrono::hours(1)}).ok()) << "the others are served";
  EXPECT_EQ((*made)->hung_runs(), 0U);
  gates_[16]->count_down();
  EXPECT_TRUE(run(**made, 16, {.deadline = Clock::now() + std::chrono::hours(1)}).ok());
  EXPECT_THAT(loaded_, ElementsAre(4, 16));
}

TEST_F(StaticLengthsTest, AShapeThatTakesTooLongToCompileIsNotForThisDeviceUntilItHas) {
  gates_[16] = std::make_shared<test::Latch>(1);
  auto made = make({.lengths = {4, 16, 64}, .inputs = 2, .load_timeout = milliseconds(20)});
  ASSERT_TRUE(made.ok());
  for (int i = 0; i < 3; ++i) {
    const Status status = run(**made, 16, {});
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_THAT(status.to_string(), HasSubstr("the static shape [1,16] was not compiled within 20 ms"));
  }
  EXPECT_TRUE(run(**made, 4, {}).ok()) << "the others are served";
  {
    const std::lock_guard lock(mutex_);
    EXPECT_THAT(loaded_, ElementsAre(4, 16)) << "a longer one would only wait behind it";
  }
  gates_[16]->count_down();
  // From when it is compiled to when it is known to be takes a moment longer.
  while (!run(**made, 16, {.deadline = Clock::now() + std::chrono::hours(1)}).ok())
    std::this_thread::yield();
  // A longer one may have stood in for it in that moment.
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(std::ranges::count(loaded_, 16), 1) << "nobody compiles it again";
}

TEST_F(StaticLengthsTest, ALongerShapeThatIsThereStandsInForOneThatTakesTooLongToCompile) {
  const auto gate = gates_[16] = std::make_shared<test::Latch>(1);
  auto made = make({.lengths = {4, 16, 64}, .inputs = 2, .load_timeout = milliseconds(20)});
  ASSERT_TRUE(made.ok());
  while (!run(**made, 64, {}).ok())  // compiled, however slow this machine is
    std::this_thread::yield();
  EXPECT_TRUE(run(**made, 16, {}).ok());
  gate->count_down();
  while (finished_ != 3)
    std::this_thread::yield();
}

TEST_F(StaticLengthsTest, CompilingIsNoRun) {
  gates_[16] = std::make_shared<test::Latch>(1);
  auto made = make({.lengths = {4, 16}, .inputs = 2});
  ASSERT_TRUE(made.ok());
  std::thread patient([&] {
    // A healthy device is not hung because its compiler takes longer than a run may.
    const Status status =
        run(**made, 16, {.deadline = Clock::now() + std::chrono::hours(1), .run_timeout = milliseconds(1)});
    EXPECT_TRUE(status.ok()) << status.to_string();
  });
  EXPECT_EQ(run(**made, 16, {.deadline = Clock::now() + milliseconds(20), .run_timeout = milliseconds(1)}).code(),
            StatusCode::kDeadlineExceeded);
  gates_[16]->count_down();
  patient.join();
}

TEST_F(StaticLengthsTest, MayGoWhileALengthIsCompiled) {
  const auto gate = gates_[16] = std::make_shared<test::Latch>(1);
  auto made = make({.lengths = {4, 16}, .inputs = 2});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(run(**made, 16, {.deadline = Clock::now() + milliseconds(1)}).code(), StatusCode::kDeadlineExceeded);
  made->reset();
  gate->count_down();
  // The compiling refers to this test.
  while (finished_ != 2)
    std::this_thread::yield();
}

TEST_F(StaticLengthsTest, NoMemoryWhilePreloadingEndsNothingButThat) {
  no_memory_for_ = 8;
  auto made = make({.lengths = {4, 8, 16}, .inputs = 2, .preload = true});
  ASSERT_TRUE(made.ok());
  {
    std::unique_lock lock(mutex_);
    loads_.wait(lock, [&] { return loaded_.size() >= 2; });
  }
  EXPECT_TRUE(run(**made, 8, {.deadline = Clock::now() + std::chrono::hours(1)}).ok()) << "a longer one does";
  made->reset();
}

TEST_F(StaticLengthsTest, ServesManyThreadsAtOnce) {
  auto made = make({.lengths = {4, 8, 16}, .inputs = 2, .rows = 2, .preload = true});
  ASSERT_TRUE(made.ok());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 50; ++i)
        expect_right(**made, 1 + (t + i) % 3, 1 + (t * 7 + i) % 16);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace latebind::core
