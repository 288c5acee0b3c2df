// The group "network": whole networks, which combine the operators.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/compare.h"
#include "kit/networks/batches.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/random_encoder.h"
#include "kit/networks/small_encoder.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

using core::Result;

constexpr const char* kNeedsStaticShapes = "the device needs static shapes";

// Each variant has something that the others do not have.
std::vector<std::pair<const char*, SmallGraphOptions>> small_variants() {
  using graph::ActivationFunction;
  using graph::PoolingMode;
  return {{"plain", {}},
          {"f16", {.weights = core::ElementType::kF16}},
          {"bf16", {.weights = core::ElementType::kBF16}},
          {"gelu_tanh", {.activation = ActivationFunction::kGeluTanh}},
          {"relu", {.activation = ActivationFunction::kRelu}},
          {"silu", {.activation = ActivationFunction::kSilu}},
          {"tanh", {.activation = ActivationFunction::kTanh}},
          {"cls", {.pooling = PoolingMode::kCls}},
          {"max", {.pooling = PoolingMode::kMax}},
          {"last token", {.pooling = PoolingMode::kLastToken}},
          {"mean sqrt", {.pooling = PoolingMode::kMeanSqrt}},
          {"weighted mean", {.pooling = PoolingMode::kWeightedMean}},
          {"token vectors", {.pooled = false}},
          {"padding of positions", {.padding = 5}},
          {"distance bias", {.farthest = 3}},
          {"rotary", {.rotary = true, .rotary_factor = 1.5F}},
          {"slopes", {.slopes = {0.5F, 0.25F}}},
          {"soft cap in a window", {.soft_cap = 0.5F, .window = 1}},
          {"gated without biases", {.gated = true, .biases = false}},
          {"short convolution", {.short_convolution = 3}},
          {"experts", {.chosen = 2}},
          {"four outputs", {.has_all_outputs = true}}};
}

Result<Finding> compute_small_networks(Context& context) {
  LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
  if (needs_static_shapes(device)) return absent(kNeedsStaticShapes);
  Tally tally(context);
  for (const auto& [name, options] : small_variants()) {
    LB_ASSIGN_OR_RETURN(graph::Graph graph, small_graph(options));
    LB_RETURN_IF_ERROR(tally.try_graph(device,
                                       {std::move(graph), small_batch(), fmt::format("a small encoder: {}", name)},
                                       default_precision(device)));
  }
  return tally.finding();
}

std::vector<std::int64_t> draw_lengths(std::mt19937& chance) {
  std::vector<std::int64_t> lengths(std::uniform_int_distribution<std::size_t>(1, 5)(chance));
  for (std::int64_t& length : lengths)
    length = std::uniform_int_distribution<std::int64_t>(1, 60)(chance);
  return lengths;
}

Result<Finding> compute_random_encoders(Context& context) {
  LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
  if (needs_static_shapes(device)) return absent(kNeedsStaticShapes);
  std::mt19937 chance(context.options().seed);
  Tally tally(context);
  for (std::size_t i = 0; i < context.options().cases / 3 + 1; ++i) {
    EncoderShape shape = draw_shape(chance);
    draw_biases_and_experts(chance, shape);
    draw_convolution_and_disentangled(chance, shape);
    LB_ASSIGN_OR_RETURN(graph::Graph graph, encoder(shape));
    Inputs batch = draw_batch(chance, draw_lengths(chance), shape.vocabulary, static_cast<std::int64_t>(i % 3));
    LB_RETURN_IF_ERROR(
        tally.try_graph(device,
                        {std::move(graph), std::move(batch),
                         fmt::format("random encoder {}: {} heads, {} wide", i, shape.heads, shape.hidden)},
                        default_precision(device)));
  }
  return tally.finding();
}

// One loaded model, many shapes, in an order in which kept memory of another shape would be noticed.
Result<Finding> compute_any_shape(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  std::mt19937 chance(context.options().seed);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 1; i <= 20; ++i)
    rows.insert(rows.end(), {i, 41 - i});
  rows.insert(rows.end(), {500, 1, 257});
  for (const std::int64_t count : rows) {
    context.step(fmt::format("execute() of {} rows", count));
    LB_RETURN_IF_ERROR(run_sample(*loaded.executable, loaded.sample, chance, count));
  }
  return passed(fmt::format("{} shapes of {}", rows.size(), loaded.sample.name));
}

// Results depend on the inputs alone: not on what ran before, nor on the other rows of a batch.
Result<Finding> give_the_same_again(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  std::mt19937 chance(context.options().seed);
  const Inputs batch = loaded.sample.batch(chance, 7);
  LB_ASSIGN_OR_RETURN(const auto first, run_arrays(*loaded.executable, batch));
  for (int i = 0; i < 5; ++i) {
    LB_RETURN_IF_ERROR(run_sample(*loaded.executable, loaded.sample, chance, 3 + i));
    LB_ASSIGN_OR_RETURN(const auto again, run_arrays(*loaded.executable, batch));
    for (std::size_t output = 0; output < first.size(); ++output) {
      if (again[output].values != first[output].values)
        return wrong("the same inputs give other numbers after other runs");
    }
  }
  return passed();
}

constexpr Check kNetworkChecks[] = {
    {.name = "network.small",
     .what = "Small encoders with each kind of operator compute what they mean, or are refused by name.",
     .run = compute_small_networks,
     .time = std::chrono::seconds(300)},
    {.name = "network.random",
     .what = "Random encoders compute what they mean, or are refused by name.",
     .run = compute_random_encoders,
     .time = std::chrono::seconds(600)},
    {.name = "network.shapes",
     .what = "One loaded model computes batches of any size, one after the other.",
     .run = compute_any_shape,
     .time = std::chrono::seconds(120)},
    {.name = "network.same",
     .what = "The same inputs give the same numbers, bit for bit.",
     .run = give_the_same_again}};

}  // namespace

std::span<const Check> network_checks() {
  return kNetworkChecks;
}

}  // namespace latebind::kit
