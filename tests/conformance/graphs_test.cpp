// A graph of ours computes on every backend what its operators mean, and is called there as any model is.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "core/platform/environment.h"
#include "kit/networks/batches.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/random_encoder.h"
#include "kit/networks/small_encoder.h"
#include "kit/reference/evaluator.h"
#include "kit/run_graph.h"
#include "tests/conformance/conformance.h"
#include "tests/support/encoders_to_draw.h"

namespace latebind::test {
namespace {

using graph::ActivationFunction;
using graph::PoolingMode;
using kit::EncoderShape;
using kit::Inputs;
using kit::model_of;
using kit::Outcome;
using kit::SmallGraphOptions;
using std::chrono::milliseconds;

core::Model small_model() {
  return model_of(*kit::small_graph());
}

// What the operators mean, on a model's graph.
testing::AssertionResult gives_what_it_means(const Outcome& outcome, const core::Model& model, const Inputs& inputs,
                                             double distance) {
  if (!outcome.status.ok()) return testing::AssertionFailure() << outcome.status.to_string();
  const auto wanted = kit::evaluate(*model.graph()->graph, inputs);
  if (outcome.shape != *Shape::make(wanted.shape)) {
    return testing::AssertionFailure() << "the shape is " << outcome.shape.to_string();
  }
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    if (!(std::abs(static_cast<double>(outcome.values[i]) - wanted.values[i]) <= distance)) {
      return testing::AssertionFailure() << "number " << i << " is " << outcome.values[i] << " and not "
                                         << wanted.values[i];
    }
  }
  return testing::AssertionSuccess();
}

// So much work that it takes a second on the machine itself; fewer texts in emulation, as of large_input(), and a
// shorter one where a single one takes seconds.
EncoderShape slow_shape() {
  return {.hidden = 256, .heads = 4, .intermediate = 1024, .positions = 512, .layers = 2};
}
Inputs slow_batch() {
  const auto edge = std::stoul(platform::environment("LATEBIND_CONFORMANCE_EDGE").value_or("512"));
  std::mt19937 chance(1);
  return kit::draw_batch(chance, std::vector<std::int64_t>(edge * edge / 2048, edge < 64 ? 128 : 512), 50);
}
Inputs quick_batch() {
  std::mt19937 chance(2);
  return kit::draw_batch(chance, {2, 1}, 50);
}

}  // namespace

std::unique_ptr<core::Executable> GraphConformanceTest::load_slow(unsigned requests) const {
  core::CompileOptions compile;
  compile.requests = requests;
  return load(model_of(*kit::encoder(slow_shape())), compile);
}

namespace {

TEST_P(GraphConformanceTest, ComputesWhatAGraphMeans) {
  // The first ones have all operators, for where everything is slow.
  constexpr std::size_t kWithAll = 3;
  const std::vector<SmallGraphOptions> all{
      {.activation = ActivationFunction::kSilu,
       .farthest = 3,
       .rotary = true,
       .window = 2,
       .gated = true,
       .biases = false},
      {.weights = ElementType::kF16,
       .activation = ActivationFunction::kGeluTanh,
       .pooling = PoolingMode::kMax,
       .padding = 0,
       .farthest = 9},
      {.weights = ElementType::kBF16,
       .activation = ActivationFunction::kRelu,
       .pooling = PoolingMode::kLastToken,
       .slopes = {0.5F, 0.125F},
       .soft_cap = 0.75F,
       .window = 0,
       .short_convolution = 3,
       .chosen = 2},
      {},
      {.weights = ElementType::kF16},
      {.weights = ElementType::kBF16},
      {.activation = ActivationFunction::kGeluTanh},
      {.activation = ActivationFunction::kRelu},
      {.pooling = PoolingMode::kCls},
      {.pooling = PoolingMode::kMax},
      {.pooling = PoolingMode::kLastToken},
      {.padding = 5},
      {.farthest = 3},
      {.rotary = true, .rotary_factor = 1.5F},
      {.slopes = {0.5F, 0.25F}},
      {.soft_cap = 0.5F, .window = 1},
      {.window = 1},
      {.gated = true, .biases = false},
      {.short_convolution = 3},
      {.chosen = 2},
  };
  const std::size_t count = std::max(kWithAll, test::encoders_to_draw(all.size()));
  for (const SmallGraphOptions& options : std::span(all).first(count)) {
    const core::Model model = model_of(*kit::small_graph(options));
    const auto executable = load(model);
    ASSERT_NE(executable, nullptr);
    const auto batch = kit::small_batch();
    EXPECT_TRUE(gives_what_it_means(kit::run(*executable, batch), model, batch, 2e-6));
  }
}

TEST_P(GraphConformanceTest, ComputesEncodersOfAnySize) {
  std::mt19937 chance(20);
  std::mt19937 more(21);
  std::mt19937 latest(22);
  for (std::size_t i = 0; i < test::encoders_to_draw(12); ++i) {
    EncoderShape shape = kit::draw_shape(chance);
    kit::draw_biases_and_experts(more, shape);
    kit::draw_convolution_and_disentangled(latest, shape);
    shape.pooled = true;  // what a text's padding has is the vendor's affair
    const core::Model model = model_of(*kit::encoder(shape));
    const auto executable = load(model);
    ASSERT_NE(executable, nullptr);
    std::vector<std::int64_t> lengths;
    for (std::size_t text = 0; text < 1 + chance() % 5; ++text)
      lengths.push_back(1 + static_cast<std::int64_t>(chance() % 60));
    const Inputs batch = kit::draw_batch(chance, lengths, shape.vocabulary);
    EXPECT_TRUE(gives_what_it_means(kit::run(*executable, batch), model, batch, 3e-5))
        << shape.heads << " heads, " << shape.hidden << " wide";
  }
}

TEST_P(GraphConformanceTest, RefusesWhatIsWrongByName) {
  const auto executable = load(small_model());
  ASSERT_NE(executable, nullptr);
  Tensor<std::int64_t> good{Shape{1, 3}, {1, 1, 1}};
  Tensor<std::int64_t> flat{Shape{3}, {1, 1, 1}};
  std::array<OutputTensor, 1> outputs;
  const auto run = [&](std::vector<TensorView> inputs) { return executable->execute(inputs, outputs, {}); };
  const TensorView right = good.view(ElementType::kI64);
  TensorView nothing = right;
  nothing.data = nullptr;
  expect_words(run({right}), StatusCode::kCountMismatch, {"ids", "mask", "2", "1"});
  expect_words(run({right, good.view(ElementType::kI32)}), StatusCode::kTypeMismatch, {"'mask'", "i64", "i32"});
  expect_words(run({right, flat.view(ElementType::kI64)}), StatusCode::kShapeMismatch, {"'mask'", "[?,?]", "[3]"});
  expect_words(run({right, nothing}), StatusCode::kInvalidArgument, {"'mask'"});
  std::array<OutputTensor, 2> two;
  expect_words(executable->execute(std::array{right, right}, two, {}), StatusCode::kCountMismatch, {"1", "2"});
  EXPECT_OK(run({right, right}));
  expect_words(backend_->load(small_model(), "TOASTER.7", {}).status(), StatusCode::kDeviceNotFound, {"TOASTER.7"});
}

TEST_P(GraphConformanceTest, WritesIntoTheCallersMemory) {
  const core::Model model = small_model();
  const auto executable = load(model);
  ASSERT_NE(executable, nullptr);
  const auto batch = kit::small_batch();
  const Outcome wanted = kit::run(*executable, batch);
  std::vector<Tensor<std::int64_t>> tensors;
  for (const auto& info : executable->inputs()) {
    const auto& given = batch.at(info.name);
    tensors.push_back({*Shape::make(given.shape), {given.values.begin(), given.values.end()}});
  }
  const std::array inputs{tensors[0].view(ElementType::kI64), tensors[1].view(ElementType::kI64)};
  std::vector<float> memory(3 * 8 + 1, 7.0F);
  OutputTensor output = OutputTensor::bound(memory.data(), 3 * 8 * sizeof(float));
  ASSERT_OK(executable->execute(inputs, {&output, 1}, {}));
  EXPECT_EQ(std::vector<float>(memory.begin(), memory.end() - 1), wanted.values);
  EXPECT_EQ(memory.back(), 7.0F);
  OutputTensor small = OutputTensor::bound(memory.data(), 8);
  EXPECT_EQ(executable->execute(inputs, {&small, 1}, {}).code(), StatusCode::kBufferTooSmall);
}

TEST_P(GraphConformanceTest, HonoursAPrecisionOrRefusesItByName) {
  for (const auto precision : {core::Precision::kF32, core::Precision::kBF16, core::Precision::kF16,
                               core::Precision::kInt8, core::Precision::kFast}) {
    core::CompileOptions options;
    options.precision = precision;
    const auto loaded = try_load(small_model(), options);
    if (!loaded.ok()) {
      EXPECT_NE(precision, core::Precision::kF32);
      expect_words(loaded.status(), StatusCode::kUnsupported, {std::string(core::word_of(precision))});
    } else if (precision == core::Precision::kFast) {
      EXPECT_NE((*loaded)->active().precision, precision) << "what it is, is said";
    } else {
      EXPECT_EQ((*loaded)->active().precision, precision);
    }
  }
}

TEST_P(GraphConformanceTest, SaysWhoAnswers) {
  core::CompileOptions options;
  options.requests = 3;
  const auto executable = load(small_model(), options);
  ASSERT_NE(executable, nullptr);
  expect_to_name_the_device(executable->active(), 3);
}

TEST_P(GraphConformanceTest, ServesEightThreadsAtOnceOnOneExecutable) {
  const core::Model model = model_of(*kit::encoder({.hidden = 24, .heads = 3}));
  core::CompileOptions options;
  options.requests = 3;
  const auto executable = load(model, options);
  ASSERT_NE(executable, nullptr);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 chance(t);
      for (std::size_t i = 0; i < test::encoders_to_draw(15); ++i) {
        // Every thread has shapes of its own, so that a mixed-up request shows.
        const Inputs batch = kit::draw_batch(chance, {t + 1, static_cast<std::int64_t>(i) + 1}, 50, t % 3);
        EXPECT_TRUE(gives_what_it_means(kit::run(*executable, batch), model, batch, 3e-5));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

TEST_P(GraphConformanceTest, ExecutableOutlivesBackendAndModel) {
  const core::Model model = small_model();
  const auto batch = kit::small_batch();
  std::unique_ptr<core::Executable> executable = load(small_model());
  ASSERT_NE(executable, nullptr);
  backend_.reset();
  EXPECT_TRUE(gives_what_it_means(kit::run(*executable, batch), model, batch, 2e-6));
}

TEST_P(GraphConformanceTest, HoldsADeadlineAndServesOthersMeanwhile) {
  const core::Model model = model_of(*kit::encoder(slow_shape()));
  const auto executable = load_slow(3);
  ASSERT_NE(executable, nullptr);
  const Inputs slow = slow_batch();
  const Inputs quick = quick_batch();
  for (int i = 0; i < 2; ++i) {
    const auto limits = within(milliseconds(20));
    const Outcome ended = kit::run(*executable, slow, limits);
    const auto now = std::chrono::steady_clock::now();
    EXPECT_EQ(ended.status.code(), StatusCode::kDeadlineExceeded) << ended.status.to_string();
    EXPECT_GE(now, *limits.deadline);
    EXPECT_LT(now, *limits.deadline + std::chrono::seconds(2)) << "at once, whatever the vendor does";
    EXPECT_TRUE(gives_what_it_means(kit::run(*executable, quick), model, quick, 3e-5));
  }
  EXPECT_EQ(kit::run(*executable, quick, within(milliseconds(-1))).status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_OK(kit::run(*executable, quick, within(std::chrono::minutes(10))).status);
}

TEST_P(GraphConformanceTest, ReturnsAtOnceWhenItIsCancelled) {
  const auto executable = load_slow(2);
  ASSERT_NE(executable, nullptr);
  const Inputs quick = quick_batch();
  core::RunOptions options;
  options.cancellation = core::Cancellation::create();
  std::thread running([&] {
    const Outcome ended = kit::run(*executable, slow_batch(), options);
    EXPECT_EQ(ended.status.code(), StatusCode::kCancelled) << ended.status.to_string();
  });
  std::this_thread::sleep_for(milliseconds(50));  // some time into the run, or before it
  options.cancellation.request();
  running.join();
  EXPECT_EQ(kit::run(*executable, quick, options).status.code(), StatusCode::kCancelled);
  EXPECT_OK(kit::run(*executable, quick).status);
}

TEST_P(GraphConformanceTest, GivesUpWaitingForARequestAtTheDeadline) {
  const auto executable = load_slow(1);
  ASSERT_NE(executable, nullptr);
  const Inputs quick = quick_batch();
  std::atomic<bool> done{false};
  std::thread occupant([&] {
    EXPECT_OK(kit::run(*executable, slow_batch()).status);
    done = true;
  });
  // Until the occupant has the request, runs succeed, or are too slow themselves on a busy machine.
  Status status;
  do {
    status = kit::run(*executable, quick, within(milliseconds(20))).status;
  } while (status.code() != StatusCode::kBusy && !done);
  EXPECT_EQ(status.code(), StatusCode::kBusy) << status.to_string();
  occupant.join();
  EXPECT_OK(kit::run(*executable, quick).status);
}

}  // namespace
}  // namespace latebind::test
