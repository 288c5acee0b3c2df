// The group "precision": each precision that the device claims, within its bound (kit/compare.h), and the others
// refused.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/networks/batches.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/operator_cases.h"
#include "kit/networks/random_encoder.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

using core::Precision;
using core::Result;
using core::Status;

// Encoders in which rounding does not decide about anything: wide enough that norms do not amplify it.
Result<GraphCase> tame_encoder(std::mt19937& chance, int number) {
  EncoderShape shape = draw_shape(chance);
  shape.hidden += 8 * shape.heads;
  shape.intermediate += 8;
  shape.gated = false;
  shape.rms = false;
  LB_ASSIGN_OR_RETURN(graph::Graph graph, encoder(shape));
  Inputs batch = draw_batch(chance, {9, 4, 17}, shape.vocabulary, 1);
  return GraphCase{std::move(graph), std::move(batch), fmt::format("random encoder {}, {} wide", number, shape.hidden)};
}

// Operators with products, and encoders.
Status compute_in(Context& context, const core::Device& device, Precision precision, Tally& tally) {
  constexpr int kOfEach = 10;
  std::mt19937 chance(context.options().seed);
  const bool is_static = needs_static_shapes(device);
  for (const OperatorCases& of : operator_cases()) {
    const bool has_products = of.name == "linear" || of.name == "attention" || of.name == "convolution";
    for (int i = 0; has_products && i < kOfEach; ++i) {
      const CaseSource source = i % 2 == 0 ? CaseSource::kNumbers : CaseSource::kTokens;
      LB_ASSIGN_OR_RETURN(GraphCase one, of.draw(chance, {source, is_static}));
      LB_RETURN_IF_ERROR(tally.try_graph(device, std::move(one), precision));
    }
  }
  for (int i = 0; !is_static && i < kOfEach; ++i) {
    LB_ASSIGN_OR_RETURN(GraphCase one, tame_encoder(chance, i));
    LB_RETURN_IF_ERROR(tally.try_graph(device, std::move(one), precision));
  }
  return {};
}

// A device that does not compute in a precision says so when it is asked for it.
Result<Finding> refuse_precision(Context& context, const core::Device& device, Precision precision) {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  core::CompileOptions options;
  options.precision = precision;
  const auto other = backend->load(model_of(loaded.sample.graph), device.name, options);
  const std::string word(core::word_of(precision));
  if (other.ok()) return wrong(fmt::format("the device does not list {}, and load() takes it", word));
  if (other.status().code() != core::StatusCode::kUnsupported ||
      other.status().to_string().find(word) == std::string::npos)
    return wrong(fmt::format("load() in {} is not refused by name: {}", word, other.status().to_string()));
  return absent(std::string(other.status().message()));
}

Result<Finding> check_precision(Context& context, Precision precision) {
  LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
  const bool is_listed =
      precision == Precision::kFast ? device.traits.is_preferred_in(precision) : device.traits.computes_in(precision);
  if (!is_listed && !device.traits.precisions.empty()) return refuse_precision(context, device, precision);
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  core::CompileOptions options;
  options.precision = precision;
  const auto in_precision = backend->load(model_of(loaded.sample.graph), device.name, options);
  if (!in_precision.ok() && device.traits.precisions.empty()) return refused(in_precision.status().to_string());
  if (!in_precision.ok()) return in_precision.status();
  const Precision active = (*in_precision)->active().precision;
  if (precision == Precision::kFast ? active == precision : active != precision)
    return wrong(fmt::format("a model that was loaded in {} says that it computes in {}", core::word_of(precision),
                             core::word_of(active)));
  Tally tally(context);
  LB_RETURN_IF_ERROR(compute_in(context, device, precision, tally));
  return tally.finding();
}

template <Precision kPrecision>
Result<Finding> check_precision_of(Context& context) {
  return check_precision(context, kPrecision);
}

constexpr std::string_view kWhatPrecision =
    "The device computes in this precision within its bound, or refuses it by name.";
constexpr std::chrono::seconds kPrecisionTime{300};
constexpr Check kPrecisionChecks[] = {{.name = "precision.f32",
                                       .what = kWhatPrecision,
                                       .run = check_precision_of<Precision::kF32>,
                                       .time = kPrecisionTime},
                                      {.name = "precision.bf16",
                                       .what = kWhatPrecision,
                                       .run = check_precision_of<Precision::kBF16>,
                                       .time = kPrecisionTime},
                                      {.name = "precision.f16",
                                       .what = kWhatPrecision,
                                       .run = check_precision_of<Precision::kF16>,
                                       .time = kPrecisionTime},
                                      {.name = "precision.int8",
                                       .what = kWhatPrecision,
                                       .run = check_precision_of<Precision::kInt8>,
                                       .time = kPrecisionTime},
                                      {.name = "precision.fast",
                                       .what = kWhatPrecision,
                                       .run = check_precision_of<Precision::kFast>,
                                       .time = kPrecisionTime}};

}  // namespace

std::span<const Check> precision_checks() {
  return kPrecisionChecks;
}

}  // namespace latebind::kit
