// Runs that are given up, and weights on the device.
#include <chrono>
#include <thread>

#include "backends/pjrt/constants.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/pattern_weights.h"
#include "kit/run_graph.h"
#include "tests/pjrt/real/support.h"

namespace latebind::pjrt::testing {
namespace {

using core::StatusCode;

class RunsTest : public VendorTest {};

// Computes for a while: 16 products of matrices with 2048 rows and columns.
core::Model slow_model() {
  constexpr std::int64_t kSize = 2048;
  kit::PatternWeights weights;
  const graph::Weight weight = weights.add("weight", core::ElementType::kF32, {kSize, kSize});
  graph::GraphBuilder builder(weights.part());
  graph::Value x = builder.add(graph::Input{.name = "x", .type = core::ElementType::kF32, .shape = {kSize, kSize}});
  for (int i = 0; i < 16; ++i)
    x = builder.add(graph::Linear{.x = x, .weight = weight});
  auto graph = std::move(builder).finish(x, "y");
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return kit::model_of(*std::move(graph));
}

TEST_P(RunsTest, OneThatTakesTooLongIsAbandonedAndCounted) {
  const auto loaded = backend_->load(slow_model(), "CPU", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  core::Executable& executable = **loaded;
  kit::Array x{{2048, 2048}, {}};
  x.values.assign(2048UL * 2048UL, 0.0);
  const kit::Inputs inputs{{"x", x}};
  core::RunOptions options;
  options.run_timeout = std::chrono::milliseconds(20);  // counts from the call on
  const kit::Outcome outcome = kit::run(executable, inputs, options);
  EXPECT_EQ(outcome.status.code(), StatusCode::kDeviceFailed) << outcome.status.to_string();
  EXPECT_EQ(executable.hung_runs(), 1U);
  // It ends by itself: a test must not end before it.
  while (executable.hung_runs() > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  options = {.deadline = std::chrono::steady_clock::now()};
  EXPECT_EQ(core::band_of(kit::run(executable, inputs, options).status.code()), core::StatusBand::kResource);
}

TEST_P(RunsTest, EqualWeightsAreOnTheDeviceOnce) {
  const auto api = Api::open(GetParam().file());
  ASSERT_TRUE(api.ok()) << api.status().to_string();
  const auto client = Client::create(*api);
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  Constants constants(*client);
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  const std::vector<float> b{1, 2, 3, 4, 5, 7};
  const auto get = [&](const std::vector<float>& numbers, const Dims& dims) {
    auto buffer = constants.get(0, Element::kF32, dims, std::as_bytes(std::span(numbers)));
    EXPECT_TRUE(buffer.ok()) << buffer.status().to_string();
    return *std::move(buffer);
  };
  auto first = get(a, {2, 3});
  auto second = get(std::vector<float>(a), {2, 3});
  EXPECT_EQ(first, second);
  EXPECT_NE(get(b, {2, 3}), first);
  EXPECT_NE(get(a, {3, 2}), first);
  EXPECT_EQ(constants.count(), 1U);
  std::vector<float> back(6);
  ASSERT_TRUE((*client)->download(*first, back.data(), back.size() * sizeof(float)).ok());
  EXPECT_EQ(back, a);
  first.reset();
  second.reset();
  EXPECT_EQ(constants.count(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Vendors, RunsTest, ::testing::Values(kNewer, kOlder), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace latebind::pjrt::testing
