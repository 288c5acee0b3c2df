#include "core/graph/lowering.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph_lowering.h"
#include "core/graph/token_packing.h"

namespace latebind::graph {

using core::ElementType;
using core::Shape;
using primitive::BinaryFunction;
using primitive::ReduceFunction;

namespace {

// Added to padding's token vectors before their maximum is taken; the reference uses the same value.
constexpr float kNeverMaximal = -1e9F;

constexpr float kLeastCount = 1e-9F;
constexpr float kLeastLength = 1e-12F;

}  // namespace

Value Lowering::weight(const Weight& weight) {
  if (const auto known = weights_.find(weight.name); known != weights_.end()) return known->second;
  Value value = add(weight, weight.type);
  if (weight.type != ElementType::kF32) value = add(primitive::Convert{.x = value});
  return weights_[weight.name] = value;
}

Value Lowering::packed(Value x) {
  if (!places_) return x;
  const auto [entry, is_new] = packed_.try_emplace(x.node);
  if (is_new) {
    const Value flat = add(primitive::Reshape{.x = x, .shape = {-1}}, network_.node(x).type);
    entry->second = gather(flat, *places_, 0);
  }
  return entry->second;
}

Value Lowering::mask_f32(Value mask) {
  const auto [entry, is_new] = masks_f32_.try_emplace(mask.node);
  if (is_new) entry->second = add(primitive::Convert{.x = of(mask)});
  return entry->second;
}

Value Lowering::operator()(const PositionLookup& op) {
  const Value table = weight(op.table);
  if (!op.padding) {
    if (!places_) return add(primitive::FirstRows{.table = table, .like = of(op.ids)});
    const Value columns = add(primitive::Positions{.like = of(op.ids)}, ElementType::kI64);
    const Value none = multiply(of(op.ids), constant(std::int64_t{0}));
    return gather(table, packed(binary(BinaryFunction::kAdd, none, columns)), 0);
  }
  const Value equal = add(primitive::IsEqual{.x = of(op.ids), .number = constant(*op.padding)}, ElementType::kI64);
  const Value counted = subtract(constant(std::int64_t{1}), equal);
  const Value place = multiply(add(primitive::CumulativeSum{.x = counted}, ElementType::kI64), counted);
  return gather(table, packed(binary(BinaryFunction::kAdd, place, constant(*op.padding))), 0);
}

Value Lowering::operator()(const Linear& op) {
  const Value matrix = weight(op.weight);
  const std::optional<Value> bias = weight(op.bias);
  const Value y = product(of(op.x), matrix);
  return bias ? binary(BinaryFunction::kAdd, y, *bias) : y;
}

Value Lowering::operator()(const ShortConvolution& op) {
  const std::int64_t columns = op.weight.shape[0];
  const std::int64_t count = op.weight.shape[1];
  const Value x = padded(op.x);
  const Value all = weight(op.weight);
  const auto factors = [&](std::int64_t column) {
    return add(primitive::Squeeze{.x = add(primitive::Slice{.x = all, .first = column, .count = 1}), .axes = {1}});
  };
  Value sum = multiply(x, factors(count - 1));
  if (count > 1) {
    const Value places = add(primitive::Positions{.like = of(op.mask)}, ElementType::kI64);
    const Value zero = constant(std::int64_t{0});
    for (std::int64_t back = 1; back < count; ++back) {
      // Tokens at the beginning of a text have no token at this distance before them. They use the first one, times 0.
      const Value before = binary(BinaryFunction::kMaximum, subtract(places, constant(back)), zero);
      const Value ahead = binary(BinaryFunction::kMaximum, subtract(places, constant(back - 1)), zero);
      const Value exists = binary(BinaryFunction::kMinimum, ahead, constant(std::int64_t{1}));
      const Value kept = multiply(gather(x, before, 1), unsqueeze(add(primitive::Convert{.x = exists}), {1}));
      sum = binary(BinaryFunction::kAdd, sum, multiply(kept, factors(count - 1 - back)));
    }
  }
  if (op.bias) sum = binary(BinaryFunction::kAdd, sum, weight(*op.bias));
  return repacked(sum, columns);
}

// All experts compute all tokens, as two matrix products, so that the network has no data-dependent shapes, which
// accelerators do not compile.
Value Lowering::operator()(const Experts& op) {
  const std::int64_t rank = rank_of(op.x);
  const std::int64_t experts = graph_.node(op.router).shape[2];
  const std::int64_t rows = op.wide.shape[0];
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank - 1));
  dims.push_back(rows);
  const std::vector<std::int64_t> joined = dims;
  dims.back() = experts;
  dims.push_back(rows / experts);
  const Value shares =
      add(primitive::KeepLargest{.x = add(primitive::Softmax{.x = of(op.router)}), .count = op.chosen});
  const Value wide = product(of(op.x), weight(op.wide));
  const Value active = add(Activation{.x = wide, .function = op.function});
  const Value by_expert = multiply(add(primitive::Reshape{.x = active, .shape = dims}), unsqueeze(shares, {rank}));
  // The second product also sums the experts' results.
  const Value y = matmul(add(primitive::Reshape{.x = by_expert, .shape = joined}), weight(op.narrow));
  return op.bias ? binary(BinaryFunction::kAdd, y, weight(*op.bias)) : y;
}

Value Lowering::operator()(const Columns& op) {
  const Shape& shape = graph_.node(op.x).shape;
  const std::int64_t groups = shape[shape.rank() - 1] / op.width;
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank_of(op.x) - 1));
  std::vector<std::int64_t> parts = dims;
  parts.insert(parts.end(), {groups, op.width});
  const Value grouped = add(primitive::Reshape{.x = of(op.x), .shape = std::move(parts)});
  const Value some = add(primitive::Slice{.x = grouped, .first = op.first, .count = op.count});
  dims.push_back(groups * op.count);
  return add(primitive::Reshape{.x = some, .shape = std::move(dims)});
}

Value Lowering::operator()(const Convolution& op) {
  // The square is 1 for unattended tokens, too.
  const Value kept = unsqueeze(multiply(mask_f32(op.mask), mask_f32(op.mask)), {2});
  const Value channels = transpose(multiply(padded(op.x), kept), {0, 2, 1});
  const Value products =
      add(primitive::Convolution{.x = channels, .weight = weight(op.weight), .width = op.weight.shape[2]});
  Value y = transpose(products, {0, 2, 1});
  if (places_) y = gather(add(primitive::Reshape{.x = y, .shape = {-1, op.weight.shape[0]}}), *places_, 0);
  const std::optional<Value> bias = weight(op.bias);
  return bias ? binary(BinaryFunction::kAdd, y, *bias) : y;
}

Value Lowering::operator()(const LayerNorm& op) {
  const Value scale = weight(op.weight);
  return add(primitive::LayerNorm{.x = of(op.x), .weight = scale, .bias = weight(op.bias), .epsilon = op.epsilon});
}

Value Lowering::operator()(const RmsNorm& op) {
  const Shape& shape = graph_.node(op.x).shape;
  const std::int64_t columns = shape[shape.rank() - 1];
  const std::int64_t last = rank_of(op.x) - 1;
  const std::int64_t width = op.weight.shape[0];
  const bool is_whole = width == columns;
  Value x = of(op.x);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(last));
  if (!is_whole) {
    dims.insert(dims.end(), {columns / width, width});
    x = add(primitive::Reshape{.x = x, .shape = dims});
    dims.resize(static_cast<std::size_t>(last));
  }
  const Value mean = reduce(ReduceFunction::kMean, multiply(x, x), true, is_whole ? last : last + 1);
  const Value bounded = binary(BinaryFunction::kAdd, mean, constant(static_cast<float>(op.epsilon)));
  Value scale = weight(op.weight);
  if (op.offset != 0) scale = binary(BinaryFunction::kAdd, scale, constant(op.offset));
  x = multiply(binary(BinaryFunction::kDivide, x, add(primitive::SquareRoot{.x = bounded})), scale);
  if (is_whole) return x;
  dims.push_back(columns);
  return add(primitive::Reshape{.x = x, .shape = std::move(dims)});
}

Value Lowering::operator()(const Pool& op) {
  const Value states = padded(op.x);
  switch (op.mode) {
    case PoolingMode::kCls:
      return gather(states, constant(std::int64_t{0}), 1);
    case PoolingMode::kMax: {
      const Value never = unsqueeze(padding(mask_f32(op.mask), kNeverMaximal), {2});
      return reduce(ReduceFunction::kMax, binary(BinaryFunction::kAdd, states, never), false);
    }
    case PoolingMode::kLastToken: {
      const Value count = reduce(ReduceFunction::kSum, of(op.mask), true);
      const Value last = subtract(count, constant(std::int64_t{1}));
      return add(primitive::GatherRow{.data = states, .indices = last});
    }
    case PoolingMode::kMean:
    case PoolingMode::kMeanSqrt:
    case PoolingMode::kWeightedMean:
      break;
  }
  // [batch, 1, tokens] x [batch, tokens, hidden]: one product instead of a masked copy of all states.
  Value weights = mask_f32(op.mask);
  if (op.mode == PoolingMode::kWeightedMean) {
    const Value place = add(primitive::CumulativeSum{.x = of(op.mask)}, ElementType::kI64);
    weights = multiply(weights, add(primitive::Convert{.x = place}));
  }
  const Value sum = add(primitive::Squeeze{.x = matmul(unsqueeze(weights, {1}), states), .axes = {1}});
  Value count = reduce(ReduceFunction::kSum, weights, true);
  if (op.mode == PoolingMode::kMeanSqrt) count = add(primitive::SquareRoot{.x = count});
  return divide_by_at_least(sum, count, kLeastCount);
}

Value Lowering::operator()(const Normalize& op) {
  const Value x = of(op.x);
  return divide_by_at_least(x, reduce(ReduceFunction::kL2, x, true, rank_of(op.x) - 1), kLeastLength);
}

PrimitiveNetwork Lowering::run() {
  if (format_.packs_tokens) {
    const std::string mask = can_pack(graph_).value_or("");
    const auto input = [&](std::string_view name, const Shape& shape) {
      return add(Input{.name = std::string(name) + mask, .shape = shape}, ElementType::kI64);
    };
    places_ = input(kTokenPlaces, Shape{core::kDynamic});
    slots_ = input(kTokenSlots, Shape{core::kDynamic, core::kDynamic});
  }
  for (const Node& node : graph_.nodes())
    lowered_.push_back(std::visit(*this, node.op));
  for (const GraphOutput& output : graph_.outputs()) {
    const Shape& shape = graph_.node(output.value).shape;
    network_.outputs.push_back(
        {.value = shape.rank() == 3 ? padded(output.value) : of(output.value), .name = output.name, .shape = shape});
  }
  return std::move(network_);
}

PrimitiveNetwork lower(const Graph& graph, const FormatTraits& format) {
  return Lowering(graph, format).run();
}

}  // namespace latebind::graph
