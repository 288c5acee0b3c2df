// Lowering: the state of one call of lower().
//
// Internal to core/graph. The nodes of the graph are lowered in order; each operator becomes primitives, and what
// several nodes need, such as weights, constants and masks, is made once. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/graph/lowering.h"

namespace latebind::graph {

class Lowering {
 public:
  Lowering(const Graph& graph, const FormatTraits& format) : graph_(graph), format_(format) {}

  PrimitiveNetwork run();

  Value operator()(const Input& op) { return add(op, op.type); }
  Value operator()(const Lookup& op) { return gather(weight(op.table), packed(of(op.ids)), 0); }
  Value operator()(const PositionLookup& op);
  Value operator()(const RowLookup& op) { return gather(weight(op.table), constant(op.row), 0); }
  Value operator()(const WholeTable& op) { return weight(op.table); }
  Value operator()(const Add& op) { return binary(primitive::BinaryFunction::kAdd, of(op.a), of(op.b)); }
  Value operator()(const Multiply& op) { return multiply(of(op.a), of(op.b)); }
  Value operator()(const Scale& op) { return multiply(of(op.x), constant(op.factor)); }
  Value operator()(const Columns& op);
  Value operator()(const Linear& op);
  Value operator()(const Convolution& op);
  Value operator()(const Attention& op);
  Value operator()(const ShortConvolution& op);
  Value operator()(const Experts& op);
  Value operator()(const LayerNorm& op);
  Value operator()(const RmsNorm& op);
  Value operator()(const Activation& op) { return add(Activation{.x = of(op.x), .function = op.function}); }
  Value operator()(const Pool& op);
  Value operator()(const Normalize& op);

 private:
  Value add(Primitive op, core::ElementType type = core::ElementType::kF32) {
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
  // Returns [batch, tokens, columns] in the form that the value of a node has.
  Value repacked(Value x, std::int64_t columns) {
    return places_ ? gather(add(primitive::Reshape{.x = x, .shape = {-1, columns}}), *places_, 0) : x;
  }
  // Returns the elements of [batch, tokens] at the places of packed tokens; made once for each value.
  Value packed(Value x);
  // Returns the weight in f32; made once, however often it is used.
  Value weight(const Weight& weight);
  std::optional<Value> weight(const std::optional<Weight>& bias) {
    return bias ? std::optional(weight(*bias)) : std::nullopt;
  }
  template <class T>
  Value constant(std::span<const T> values, const core::Shape& shape);
  template <class T>
  Value constant(T value) {
    return constant(std::span<const T>(&value, 1), core::Shape{});
  }

  Value gather(Value data, Value indices, std::int64_t axis) {
    return add(primitive::Gather{.data = data, .indices = indices, .axis = axis}, network_.node(data).type);
  }
  Value binary(primitive::BinaryFunction function, Value a, Value b) {
    return add(primitive::Binary{.function = function, .a = a, .b = b}, network_.node(a).type);
  }
  Value subtract(Value a, Value b) { return binary(primitive::BinaryFunction::kSubtract, a, b); }
  Value multiply(Value a, Value b) { return binary(primitive::BinaryFunction::kMultiply, a, b); }
  Value reduce(primitive::ReduceFunction function, Value x, bool keep_dimensions, std::int64_t axis = 1) {
    return add(primitive::Reduce{.function = function, .x = x, .axes = {axis}, .keep_dimensions = keep_dimensions},
               network_.node(x).type);
  }
  // x / max(by, least)
  Value divide_by_at_least(Value x, Value by, float least) {
    return binary(primitive::BinaryFunction::kDivide, x,
                  binary(primitive::BinaryFunction::kMaximum, by, constant(least)));
  }
  Value transpose(Value x, std::vector<std::int64_t> permutation) {
    return add(primitive::Transpose{.x = x, .permutation = std::move(permutation)});
  }
  Value unsqueeze(Value x, std::vector<std::int64_t> axes) {
    return add(primitive::Unsqueeze{.x = x, .axes = std::move(axes)}, network_.node(x).type);
  }
  // x · weightᵀ, for a weight [out, in].
  Value product(Value x, Value matrix) {
    // Runtimes transpose a weight once, when they load the model.
    if (!format_.matmul_transposes) matrix = transpose(matrix, {1, 0});
    return add(primitive::MatMul{.a = x, .b = matrix, .transpose_b = format_.matmul_transposes});
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
  // Returns the products of queries or keys, [batch, heads, tokens, width], with the rows of a table that `places`
  // selects, as [batch, heads, tokens, tokens].
  Value by_place(Value x, Value table, const Attention& op, Value places);
  // For each pair of tokens, the flat index of the product that Disentangled adds, among the products of all tokens
  // with all rows: i64 [tokens t, tokens s].
  struct Places {
    Value of_queries;  // into the products of the queries (token t)
    Value of_keys;     // into the products of the keys (token s)
  };
  Places disentangled_places(const Disentangled& terms, Value mask);
  // [1, 1, tokens, tokens]
  Value sight_terms(const Attention& op);
  // 1 for each token that attends to at least one token, otherwise 0: [batch, 1, tokens, 1]
  Value sight(const Attention& op);
  // The rows of a table, [2 · farthest + 1, ..], selected by the distance between every two tokens, which is limited to
  // `farthest`: [tokens, tokens, ..]
  Value by_distance(Value table, std::int64_t farthest, Value mask);
  // s - t: i64 [tokens t, tokens s]
  Value distances(Value mask);
  // Returns the products times the scale, with the soft cap applied.
  Value scaled(Value products, const Attention& op);
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
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, Places> places_by_terms_;  // by mask, span, farthest
  std::map<std::tuple<std::uint32_t, std::int64_t, bool>, Value> sights_;  // by mask, window and whether it is causal
  struct Turned {
    std::uint32_t mask = 0;  // the node
    Rotary rotary;
    Value cosine;
    Value sine;
  };
  std::vector<Turned> turns_;
};

template <class T>
Value Lowering::constant(std::span<const T> values, const core::Shape& shape) {
  constexpr core::ElementType kType = std::is_same_v<T, float> ? core::ElementType::kF32 : core::ElementType::kI64;
  const auto bytes = std::as_bytes(values);
  const auto same = std::ranges::find_if(network_.nodes, [&](const PrimitiveNode& node) {
    const auto* known = std::get_if<primitive::Constant>(&node.op);
    return known != nullptr && known->type == kType && known->shape == shape && std::ranges::equal(known->bytes, bytes);
  });
  if (same != network_.nodes.end()) return {static_cast<std::uint32_t>(same - network_.nodes.begin())};
  return add(primitive::Constant{.type = kType, .shape = shape, .bytes = {bytes.begin(), bytes.end()}}, kType);
}

}  // namespace latebind::graph
