#include "kit/networks/operator_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/graph/operator_members.h"
#include "kit/networks/attention_cases.h"

namespace latebind::kit {
namespace {

using core::Result;
using graph::ActivationFunction;
using graph::Value;

Result<GraphCase> input_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t columns = made.width();
  made.plan_x(columns);
  made.begin();
  return std::move(made).finish(made.x());
}

Result<GraphCase> lookup_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t rows = made.width();
  const graph::Weight table = made.weight("table", {rows, made.width()});
  made.begin();
  const Value y = made.add(graph::Lookup{.table = table, .ids = made.ids(rows)});
  return std::move(made).finish(y);
}

// Positions alone, or added to words as in every encoder.
Result<GraphCase> position_lookup_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t columns = made.width();
  std::optional<std::int64_t> padding;
  if (made.one_in(2)) padding = made.up_to(5) - 1;
  const std::int64_t rows = made.tokens() + padding.value_or(-1) + 1 + made.up_to(3) - 1;
  const graph::Weight table = made.weight("table", {rows, columns});
  const bool has_words = made.one_in(2);
  const graph::Weight words = has_words ? made.weight("words", {8, columns}) : graph::Weight();
  made.begin();
  const Value ids = made.ids(8);
  Value y = made.add(graph::PositionLookup{.table = table, .ids = ids, .padding = padding});
  if (has_words) y = made.add(graph::Add{.a = made.add(graph::Lookup{.table = words, .ids = ids}), .b = y});
  if (padding) made.say(fmt::format(", padding {}", *padding));
  return std::move(made).finish(y);
}

Result<GraphCase> row_lookup_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t columns = made.width();
  const std::int64_t rows = made.up_to(4);
  made.plan_x(columns);
  const graph::Weight table = made.weight("types", {rows, columns});
  made.begin();
  const Value row = made.add(graph::RowLookup{.table = table, .row = made.up_to(rows) - 1});
  const Value y = made.add(graph::Add{.a = made.x(), .b = row});
  return std::move(made).finish(y);
}

Result<GraphCase> add_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t columns = made.width();
  made.plan_x(columns);
  made.begin();
  const Value x = made.x();
  Value b = x;
  const std::int64_t kind = made.up_to(4);
  if (kind == 1 && made.has_numbers()) b = made.numbers("z", {made.tokens(), columns}, 1);
  if (kind == 2 && made.has_numbers()) b = made.numbers("z", {columns}, 0);
  if (kind == 3 || !made.has_numbers()) b = made.another("z", columns);
  return std::move(made).finish(made.add(graph::Add{.a = x, .b = b}));
}

Result<GraphCase> multiply_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t columns = made.width();
  made.plan_x(columns);
  made.begin();
  const Value x = made.x();
  const Value b = made.one_in(4) ? x : made.another("z", columns);
  return std::move(made).finish(made.add(graph::Multiply{.a = x, .b = b}));
}

Result<GraphCase> scale_case(std::mt19937& chance, const CaseOptions& options) {
  constexpr float kFactors[] = {0.125F, 1.0F, -3.5F, 0.0F, 1e-6F, 300.0F};
  CaseBuilder made(chance, options);
  made.plan_x(made.width());
  made.begin();
  const float factor = kFactors[made.up_to(std::size(kFactors)) - 1];
  made.say(fmt::format(", factor {}", factor));
  return std::move(made).finish(made.add(graph::Scale{.x = made.x(), .factor = factor}));
}

Result<GraphCase> columns_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t width = made.width();
  const std::int64_t groups = made.up_to(4);
  made.plan_x(groups * width);
  made.begin();
  const std::int64_t first = made.up_to(width) - 1;
  const std::int64_t count = made.up_to(width - first);
  made.say(fmt::format(", {} columns from {} of each {}", count, first, width));
  return std::move(made).finish(
      made.add(graph::Columns{.x = made.x(), .width = width, .first = first, .count = count}));
}

// Ranks 2 to 4 with numbers.
Result<GraphCase> linear_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t in = made.width();
  const std::int64_t out = made.width();
  made.plan_x(in);
  const graph::Weight weight = made.weight("weight", {out, in});
  const auto bias = made.maybe_weight("bias", {out});
  made.begin();
  Value x;
  const std::int64_t kind = made.has_numbers() ? made.up_to(4) : 0;
  if (kind == 1) x = made.numbers("x", {made.texts(), in}, 1);
  if (kind == 2) x = made.numbers("x", {made.up_to(3), made.texts(), made.tokens(), in}, 3);
  if (kind != 1 && kind != 2) x = made.x();
  return std::move(made).finish(made.add(graph::Linear{.x = x, .weight = weight, .bias = bias}));
}

Result<GraphCase> convolution_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t in = made.up_to(20);
  const std::int64_t out = made.up_to(20);
  made.plan_x(in);
  const graph::Weight weight = made.weight("weight", {out, in, 2 * made.up_to(4) - 1});
  const auto bias = made.maybe_weight("bias", {out});
  made.begin();
  const Value x = made.x();
  return std::move(made).finish(
      made.add(graph::Convolution{.x = x, .mask = made.mask(), .weight = weight, .bias = bias}));
}

Result<GraphCase> short_convolution_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t columns = made.width();
  made.plan_x(columns);
  const graph::Weight weight = made.weight("weight", {columns, made.up_to(8)});
  const auto bias = made.maybe_weight("bias", {columns});
  made.begin();
  const Value x = made.x();
  return std::move(made).finish(
      made.add(graph::ShortConvolution{.x = x, .mask = made.mask(), .weight = weight, .bias = bias}));
}

Result<GraphCase> experts_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t columns = made.up_to(40);
  const std::int64_t experts = made.up_to(8);
  const std::int64_t inner = made.up_to(24);
  made.plan_x(columns);
  graph::Experts op{};
  op.wide = made.weight("wide", {experts * inner, columns});
  op.narrow = made.weight("narrow", {experts * inner, columns});
  op.bias = made.maybe_weight("bias", {columns});
  const graph::Weight router = made.weight("router", {experts, columns});
  op.chosen = made.up_to(experts);
  op.function = static_cast<ActivationFunction>(made.up_to(5) - 1);
  made.say(fmt::format(", {} chosen, {}", op.chosen, core::word_of(op.function)));
  made.begin();
  op.x = made.x();
  // With an input as the router, its numbers may all be 0, so that the first experts are chosen.
  op.router = made.has_numbers() && made.one_in(2) ? made.numbers("router", {made.texts(), made.tokens(), experts}, 2)
                                                   : made.add(graph::Linear{.x = op.x, .weight = router});
  return std::move(made).finish(made.add(op));
}

Result<GraphCase> layer_norm_case(std::mt19937& chance, const CaseOptions& options) {
  constexpr double kEpsilons[] = {1e-12, 1e-5, 0.01};
  CaseBuilder made(chance, options);
  // One column is always 0 before the bias, whatever the rounding.
  const std::int64_t columns = made.width();
  made.plan_x(columns);
  graph::LayerNorm op{};
  op.weight = made.weight("weight", {columns});
  op.bias = made.maybe_weight("bias", {columns});
  op.epsilon = kEpsilons[made.up_to(std::size(kEpsilons)) - 1];
  made.say(fmt::format(", epsilon {}", op.epsilon));
  made.begin();
  op.x = made.x();
  return std::move(made).finish(made.add(op));
}

Result<GraphCase> rms_norm_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  const std::int64_t columns = made.width();
  made.plan_x(columns * made.up_to(4));
  graph::RmsNorm op{};
  op.weight = made.weight("weight", {columns});
  op.offset = made.one_in(2) ? 1.0F : 0.0F;
  op.epsilon = made.one_in(2) ? 1e-6 : 1e-5;
  made.say(fmt::format(", offset {}, epsilon {}", op.offset, op.epsilon));
  made.begin();
  op.x = made.x();
  return std::move(made).finish(made.add(op));
}

Result<GraphCase> activation_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  made.plan_x(made.width());
  made.begin();
  const auto function = static_cast<ActivationFunction>(made.up_to(5) - 1);
  made.say(fmt::format(", {}", core::word_of(function)));
  return std::move(made).finish(made.add(graph::Activation{.x = made.x(), .function = function}));
}

Result<GraphCase> pool_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  made.plan_x(made.width());
  made.begin();
  const auto mode = static_cast<graph::PoolingMode>(made.up_to(6) - 1);
  made.say(fmt::format(", {}", core::word_of(mode)));
  const Value x = made.x();
  return std::move(made).finish(made.add(graph::Pool{.x = x, .mask = made.mask(), .mode = mode}));
}

// Of [B,T,H], and of [B,H] behind a pooling.
Result<GraphCase> normalize_case(std::mt19937& chance, const CaseOptions& options) {
  CaseBuilder made(chance, options);
  made.plan_x(made.width());
  made.begin();
  Value x = made.x();
  if (made.one_in(2)) x = made.add(graph::Pool{.x = x, .mask = made.mask(), .mode = graph::PoolingMode::kMean});
  return std::move(made).finish(made.add(graph::Normalize{.x = x}));
}

template <class Op>
constexpr OperatorCases of(core::Result<GraphCase> (*draw)(std::mt19937&, const CaseOptions&),
                           bool from_numbers = true) {
  return {graph::kOperatorName<Op>, draw, from_numbers};
}

constexpr OperatorCases kAll[] = {of<graph::Input>(input_case),
                                  of<graph::Lookup>(lookup_case, false),
                                  of<graph::PositionLookup>(position_lookup_case, false),
                                  of<graph::RowLookup>(row_lookup_case),
                                  of<graph::WholeTable>(whole_table_case),
                                  of<graph::Add>(add_case),
                                  of<graph::Multiply>(multiply_case),
                                  of<graph::Scale>(scale_case),
                                  of<graph::Columns>(columns_case),
                                  of<graph::Linear>(linear_case),
                                  of<graph::Convolution>(convolution_case),
                                  of<graph::ShortConvolution>(short_convolution_case),
                                  of<graph::Experts>(experts_case),
                                  of<graph::Attention>(attention_case),
                                  of<graph::LayerNorm>(layer_norm_case),
                                  of<graph::RmsNorm>(rms_norm_case),
                                  of<graph::Activation>(activation_case),
                                  of<graph::Pool>(pool_case),
                                  of<graph::Normalize>(normalize_case)};
static_assert(std::size(kAll) == std::variant_size_v<graph::Operator>, "each operator has its cases");

}  // namespace

std::span<const OperatorCases> operator_cases() {
  return kAll;
}

}  // namespace latebind::kit
