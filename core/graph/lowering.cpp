#include "core/graph/lowering.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/graph/token_packing.h"

namespace latebind::graph {
namespace {

using core::ElementType;
using core::Shape;
using primitive::BinaryFunction;
using primitive::ReduceFunction;

// Added to the scores of padding: far below any score, and representable in f16.
constexpr float kMasked = -10000.0F;

// Added to padding's token vectors before their maximum is taken; the reference uses the same value.
constexpr float kNeverMaximal = -1e9F;

constexpr float kLeastCount = 1e-9F;
constexpr float kLeastLength = 1e-12F;

class Lowering {
 public:
  Lowering(const Graph& graph, const FormatTraits& format) : graph_(graph), format_(format) {}

  PrimitiveNetwork run();

  Value operator()(const Input& op) { return add(op, op.type); }
  Value operator()(const Lookup& op) { return gather(weight(op.table), packed(of(op.ids)), 0); }
  Value operator()(const PositionLookup& op);
  Value operator()(const RowLookup& op) { return gather(weight(op.table), constant(op.row), 0); }
  Value operator()(const Add& op) { return binary(BinaryFunction::kAdd, of(op.a), of(op.b)); }
  Value operator()(const Multiply& op) { return multiply(of(op.a), of(op.b)); }
  Value operator()(const Scale& op) { return multiply(of(op.x), constant(op.factor)); }
  Value operator()(const Linear& op);
  Value operator()(const Attention& op);
  Value operator()(const LayerNorm& op);
  Value operator()(const RmsNorm& op);
  Value operator()(const Activation& op) { return add(Activation{.x = of(op.x), .function = op.function}); }
  Value operator()(const Pool& op);
  Value operator()(const Normalize& op);

 private:
  Value add(Primitive op, ElementType type = ElementType::kF32) {
    network_.nodes.push_back({.op = std::move(op), .type = type});
    return {static_cast<std::uint32_t>(network_.nodes.size() - 1)};
  }
  // Returns the lowered value of a node.
  [[nodiscard]] Value of(Value value) const { return lowered_[value.node]; }
  // Returns the rank of the lowered value: packed tokens have one dimension instead of two.
  [[nodiscard]] std::int64_t rank_of(Value value) const {
    const auto rank = static_cast<std::int64_t>(graph_.node(value).shape.rank());
    return places_ && rank == 3 ? 2 : rank;
  }
  // Returns the lowered value of a node in the form [batch, tokens, ..].
  Value padded(Value value) { return places_ && rank_of(value) == 2 ? gather(of(value), *slots_, 0) : of(value); }
  // Returns the elements of [batch, tokens] at the places of packed tokens; made once for each value.
  Value packed(Value x);
  // Returns the weight in f32; made once, however often it is used.
  Value weight(const Weight& weight);
  std::optional<Value> weight(const std::optional<Weight>& bias) {
    return bias ? std::optional(weight(*bias)) : std::nullopt;
  }
  template <class T>
  Value constant(std::span<const T> values, const Shape& shape);
  template <class T>
  Value constant(T value) {
    return constant(std::span<const T>(&value, 1), Shape{});
  }

  Value gather(Value data, Value indices, std::int64_t axis) {
    return add(primitive::Gather{.data = data, .indices = indices, .axis = axis}, network_.node(data).type);
  }
  Value binary(BinaryFunction function, Value a, Value b) {
    return add(primitive::Binary{.function = function, .a = a, .b = b}, network_.node(a).type);
  }
  Value subtract(Value a, Value b) { return binary(BinaryFunction::kSubtract, a, b); }
  Value multiply(Value a, Value b) { return binary(BinaryFunction::kMultiply, a, b); }
  Value reduce(ReduceFunction function, Value x, bool keep_dimensions, std::int64_t axis = 1) {
    return add(primitive::Reduce{.function = function, .x = x, .axes = {axis}, .keep_dimensions = keep_dimensions},
               network_.node(x).type);
  }
  // x / max(by, least)
  Value divide_by_at_least(Value x, Value by, float least) {
    return binary(BinaryFunction::kDivide, x, binary(BinaryFunction::kMaximum, by, constant(least)));
  }
  Value transpose(Value x, std::vector<std::int64_t> permutation) {
    return add(primitive::Transpose{.x = x, .permutation = std::move(permutation)});
  }
  Value unsqueeze(Value x, std::vector<std::int64_t> axes) {
    return add(primitive::Unsqueeze{.x = x, .axes = std::move(axes)}, network_.node(x).type);
  }
  Value matmul(Value a, Value b) { return add(primitive::MatMul{.a = a, .b = b}); }
  // [batch, tokens, hidden] -> [batch, heads, tokens, hidden / heads], permuted by `order`
  Value split(Value x, std::int64_t heads, std::int64_t width, std::vector<std::int64_t> order);

  // The mask in f32, and what is added to the scores of attention. They are made on first use, for all layers.
  Value mask_f32(Value mask);
  Value score_mask(Value mask);
  Value score_terms(const Attention& op);
  // [1, heads, tokens, tokens]
  Value distance_terms(const DistanceBias& bias, Value mask);
  Value linear_terms(const LinearBias& bias, Value mask);
  // [1, 1, tokens, tokens]
  Value sight_terms(const Attention& op);
  // 1 for each token that attends to at least one token, otherwise 0: [batch, 1, tokens, 1]
  Value sight(const Attention& op);
  // The rows of a table, [2 · farthest + 1, ..], selected by the distance between every two tokens, which is limited to
  // `farthest`: [tokens, tokens, ..]
  Value by_distance(Value table, std::int64_t farthest, Value mask);
  // s - t: i64 [tokens t, tokens s]
  Value distances(Value mask);
  // Repeats keys or values, [batch, key heads, ..], so that there is one for each head.
  Value shared(Value x, const Attention& op);
  // Rotates queries or keys, [batch, heads, tokens, width].
  Value turn(Value x, const Rotary& rotary, Value mask);
  // 0 where kept is 1, and `value` where it is 0.
  Value padding(Value kept, float value) { return multiply(subtract(constant(1.0F), kept), constant(value)); }

  const Graph& graph_;
  const FormatTraits format_;
  PrimitiveNetwork network_;
  // The two additional inputs, if tokens are packed.
  std::optional<Value> places_;
  std::optional<Value> slots_;
  std::vector<Value> lowered_;             // by node of the graph
  std::map<std::uint32_t, Value> packed_;  // by primitive
  std::map<std::string, Value> weights_;
  std::map<std::uint32_t, Value> masks_f32_;    // by node of the graph
  std::map<std::uint32_t, Value> score_masks_;  // by node of the graph
  // By mask, table of distances, farthest distance, slopes, window (-1 for none), and whether it is causal.
  std::map<std::tuple<std::uint32_t, std::string, std::int64_t, std::vector<float>, std::int64_t, bool>, Value>
      score_terms_;
  std::map<std::tuple<std::uint32_t, std::int64_t, bool>, Value> sights_;  // by mask, window and whether it is causal
  struct Turned {
    std::uint32_t mask = 0;  // the node
    Rotary rotary;
    Value cosine;
    Value sine;
  };
  std::vector<Turned> turns_;
};

Value Lowering::weight(const Weight& weight) {
  if (const auto known = weights_.find(weight.name); known != weights_.end()) return known->second;
  Value value = add(weight, weight.type);
  if (weight.type != ElementType::kF32) value = add(primitive::Convert{.x = value});
  return weights_[weight.name] = value;
}

template <class T>
Value Lowering::constant(std::span<const T> values, const Shape& shape) {
  constexpr ElementType kType = std::is_same_v<T, float> ? ElementType::kF32 : ElementType::kI64;
  const auto bytes = std::as_bytes(values);
  const auto same = std::ranges::find_if(network_.nodes, [&](const PrimitiveNode& node) {
    const auto* known = std::get_if<primitive::Constant>(&node.op);
    return known != nullptr && known->type == kType && known->shape == shape && std::ranges::equal(known->bytes, bytes);
  });
  if (same != network_.nodes.end()) return {static_cast<std::uint32_t>(same - network_.nodes.begin())};
  return add(primitive::Constant{.type = kType, .shape = shape, .bytes = {bytes.begin(), bytes.end()}}, kType);
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

Value Lowering::score_mask(Value mask) {
  const auto [entry, is_new] = score_masks_.try_emplace(mask.node);
  if (is_new) entry->second = padding(unsqueeze(mask_f32(mask), {1, 2}), kMasked);
  return entry->second;
}

Value Lowering::distance_terms(const DistanceBias& bias, Value mask) {
  std::vector<std::int64_t> buckets;
  for (std::int64_t distance = -bias.farthest; distance <= bias.farthest; ++distance)
    buckets.push_back(bucket_of(bias, distance));
  const auto count = static_cast<std::int64_t>(buckets.size());
  const Value rows = gather(weight(bias.table), constant(std::span<const std::int64_t>(buckets), Shape{count}), 0);
  return unsqueeze(transpose(by_distance(rows, bias.farthest, mask), {2, 0, 1}), {0});
}

Value Lowering::linear_terms(const LinearBias& bias, Value mask) {
  const Value ahead = distances(mask);
  const Value far = binary(BinaryFunction::kMaximum, ahead, multiply(ahead, constant(std::int64_t{-1})));
  std::vector<float> factors;
  for (const float slope : bias.slopes)
    factors.push_back(-slope);
  const Shape heads{static_cast<std::int64_t>(factors.size()), 1, 1};
  return unsqueeze(multiply(add(primitive::Convert{.x = far}), constant(std::span<const float>(factors), heads)), {0});
}

Value Lowering::sight_terms(const Attention& op) {
  // One more distance stands for everything beyond the window. Without a window, only the signs are distinguished.
  const std::int64_t farthest = op.window.value_or(0) + 1;
  std::vector<float> terms;
  for (std::int64_t distance = -farthest; distance <= farthest; ++distance) {
    const bool is_beyond = op.window && std::abs(distance) == farthest;
    const bool is_later = op.causal && distance > 0;
    terms.push_back(is_beyond || is_later ? kMasked : 0.0F);
  }
  const Value table = constant(std::span<const float>(terms), Shape{2 * farthest + 1});
  return unsqueeze(by_distance(table, farthest, op.mask), {0, 1});
}

Value Lowering::sight(const Attention& op) {
  const auto [entry, is_new] = sights_.try_emplace({op.mask.node, op.window.value_or(-1), op.causal});
  if (!is_new) return entry->second;
  const Value terms = binary(BinaryFunction::kAdd, score_mask(op.mask), sight_terms(op));
  const Value nearest = reduce(ReduceFunction::kMax, terms, true, 3);
  const Value less = binary(BinaryFunction::kDivide, nearest, constant(-kMasked));
  return entry->second =
             binary(BinaryFunction::kMaximum, binary(BinaryFunction::kAdd, less, constant(1.0F)), constant(0.0F));
}

Value Lowering::distances(Value mask) {
  const Value places = add(primitive::Positions{.like = of(mask)}, ElementType::kI64);
  return subtract(unsqueeze(places, {0}), unsqueeze(places, {1}));
}

Value Lowering::by_distance(Value table, std::int64_t farthest, Value mask) {
  const Value near = binary(BinaryFunction::kMaximum,
                            binary(BinaryFunction::kMinimum, distances(mask), constant(farthest)), constant(-farthest));
  return gather(table, binary(BinaryFunction::kAdd, near, constant(farthest)), 0);
}

Value Lowering::score_terms(const Attention& op) {
  const auto& bias = op.distance_bias;
  const auto [entry, is_new] = score_terms_.try_emplace(
      {op.mask.node, bias ? bias->table.name : "", bias ? bias->farthest : 0,
       op.linear_bias ? op.linear_bias->slopes : std::vector<float>(), op.window.value_or(-1), op.causal});
  if (!is_new) return entry->second;
  // All layers share one sum, because vendors fuse attention with one such term.
  Value terms = score_mask(op.mask);
  if (bias) terms = binary(BinaryFunction::kAdd, distance_terms(*bias, op.mask), terms);
  if (op.linear_bias) terms = binary(BinaryFunction::kAdd, linear_terms(*op.linear_bias, op.mask), terms);
  if (op.window || op.causal) terms = binary(BinaryFunction::kAdd, sight_terms(op), terms);
  return entry->second = terms;
}

Value Lowering::shared(Value x, const Attention& op) {
  if (op.key_heads == op.heads) return x;
  std::vector<std::int64_t> heads;
  for (std::int64_t head = 0; head < op.heads; ++head)
    heads.push_back(head * op.key_heads / op.heads);
  return gather(x, constant(std::span<const std::int64_t>(heads), Shape{op.heads}), 1);
}

Value Lowering::turn(Value x, const Rotary& rotary, Value mask) {
  const auto half = static_cast<std::int64_t>(rotary.frequencies.size());
  auto known =
      std::ranges::find_if(turns_, [&](const Turned& one) { return one.mask == mask.node && one.rotary == rotary; });
  if (known == turns_.end()) {
    // Written as tables, because lower precision would change the angles. Both halves of a head use the same ones.
    const auto rows = [&](const std::vector<float>& of_half) {
      std::vector<float> numbers;
      for (auto row = of_half.begin(); row != of_half.end(); row += half) {
        numbers.insert(numbers.end(), row, row + half);
        numbers.insert(numbers.end(), row, row + half);
      }
      const Value table = constant(std::span<const float>(numbers), Shape{rotary.positions, 2 * half});
      return add(primitive::FirstRows{.table = table, .like = of(mask)});
    };
    const Turns turns = turns_of(rotary);
    turns_.push_back({.mask = mask.node, .rotary = rotary, .cosine = rows(turns.cosines), .sine = rows(turns.sines)});
    known = std::prev(turns_.end());
  }
  const Value first = add(primitive::Slice{.x = x, .first = 0, .count = half});
  const Value second = add(primitive::Slice{.x = x, .first = half, .count = half});
  const Value turned = add(primitive::Concat{.a = multiply(second, constant(-1.0F)), .b = first});
  return binary(BinaryFunction::kAdd, multiply(x, known->cosine), multiply(turned, known->sine));
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
  Value matrix = weight(op.weight);
  const std::optional<Value> bias = weight(op.bias);
  // Runtimes transpose a weight once, when they load the model.
  if (!format_.matmul_transposes) matrix = transpose(matrix, {1, 0});
  const Value product = add(primitive::MatMul{.a = of(op.x), .b = matrix, .transpose_b = format_.matmul_transposes});
  return bias ? binary(BinaryFunction::kAdd, product, *bias) : product;
}

Value Lowering::split(Value x, std::int64_t heads, std::int64_t width, std::vector<std::int64_t> order) {
  return transpose(add(primitive::Reshape{.x = x, .shape = {0, 0, heads, width}}), std::move(order));
}

Value Lowering::operator()(const Attention& op) {
  const std::int64_t hidden = graph_.node(op.query).shape[2];
  const std::int64_t width = hidden / op.heads;
  const Value terms = score_terms(op);
  Value query = split(padded(op.query), op.heads, width, {0, 2, 1, 3});
  // If MatMul cannot transpose and no rotation comes in between, one transposition of the keys does both.
  const bool transposes = format_.matmul_transposes;
  const bool does_both = !transposes && !op.rotary;
  Value key = split(padded(op.key), op.key_heads, width,
                    does_both ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3});
  if (op.rotary) {
    query = turn(query, *op.rotary, op.mask);
    key = turn(key, *op.rotary, op.mask);
    if (!transposes) key = transpose(key, {0, 1, 3, 2});
  }
  key = shared(key, op);
  const Value value = shared(split(padded(op.value), op.key_heads, width, {0, 2, 1, 3}), op);
  const Value products = add(primitive::MatMul{.a = query, .b = key, .transpose_b = transposes});
  const Value scores = binary(BinaryFunction::kAdd, multiply(products, constant(op.scale)), terms);
  Value context = matmul(add(primitive::Softmax{.x = scores}), value);
  // A token whose scores are all minimal would get the mean of tokens that it must not attend to.
  if (op.may_be_unattended && (op.window || op.causal)) context = multiply(context, sight(op));
  context = transpose(context, {0, 2, 1, 3});
  if (!places_) return add(primitive::Reshape{.x = context, .shape = {0, 0, hidden}});
  return gather(add(primitive::Reshape{.x = context, .shape = {-1, hidden}}), *places_, 0);
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
  const bool has_tokens = graph_.node(graph_.output()).shape.rank() == 3;
  network_.output = has_tokens ? padded(graph_.output()) : of(graph_.output());
  network_.output_name = graph_.output_name();
  network_.output_shape = graph_.node(graph_.output()).shape;
  return std::move(network_);
}

}  // namespace

PrimitiveNetwork lower(const Graph& graph, const FormatTraits& format) {
  return Lowering(graph, format).run();
}

}  // namespace latebind::graph
