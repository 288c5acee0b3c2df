// Lowers attention: what is added to its scores, the rotation of queries and keys, and the products.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph_lowering.h"

namespace latebind::graph {

using core::ElementType;
using core::Shape;
using primitive::BinaryFunction;
using primitive::ReduceFunction;

namespace {

// Added to the scores of padding: far below any score, and representable in f16.
constexpr float kMasked = -10000.0F;

}  // namespace

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

Lowering::Places Lowering::disentangled_places(const Disentangled& terms, Value mask) {
  const auto [entry, is_new] =
      places_by_terms_.try_emplace({mask.node, terms.span, terms.farthest.value_or(0)}, Places{});
  if (!is_new) return entry->second;
  const std::int64_t farthest = farthest_of(terms);
  std::vector<std::int64_t> rows;
  for (std::int64_t ahead = -farthest; ahead <= farthest; ++ahead)
    rows.push_back(row_of(terms, -ahead));
  const Value table = constant(std::span<const std::int64_t>(rows), Shape{2 * farthest + 1});
  const Value row = by_distance(table, farthest, mask);
  const Value first =
      multiply(add(primitive::Positions{.like = of(mask)}, ElementType::kI64), constant(2 * terms.span));
  return entry->second = {.of_queries = binary(BinaryFunction::kAdd, row, unsqueeze(first, {1})),
                          .of_keys = binary(BinaryFunction::kAdd, row, unsqueeze(first, {0}))};
}

Value Lowering::by_place(Value x, Value table, const Attention& op, Value places) {
  const Shape& shape = graph_.node(table).shape;
  const bool transposes = format_.matmul_transposes;
  const Value heads =
      transpose(add(primitive::Reshape{.x = of(table), .shape = {shape[0], op.heads, shape[1] / op.heads}}),
                transposes ? std::vector<std::int64_t>{1, 0, 2} : std::vector<std::int64_t>{1, 2, 0});
  const Value products = add(primitive::MatMul{.a = x, .b = heads, .transpose_b = transposes});
  return gather(add(primitive::Reshape{.x = products, .shape = {0, 0, -1}}), places, 2);
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

Value Lowering::split(Value x, std::int64_t heads, std::int64_t width, std::vector<std::int64_t> order) {
  return transpose(add(primitive::Reshape{.x = x, .shape = {0, 0, heads, width}}), std::move(order));
}

Value Lowering::scaled(Value products, const Attention& op) {
  if (!op.soft_cap) return multiply(products, constant(op.scale));
  const Value inner = multiply(products, constant(op.scale / *op.soft_cap));
  return multiply(add(Activation{.x = inner, .function = ActivationFunction::kTanh}), constant(*op.soft_cap));
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
  Value products = add(primitive::MatMul{.a = query, .b = key, .transpose_b = transposes});
  if (const auto& more = op.disentangled) {
    const Places places = disentangled_places(*more, op.mask);
    if (more->keys)
      products = binary(BinaryFunction::kAdd, products, by_place(query, *more->keys, op, places.of_queries));
    if (more->queries) {
      const Value rows = split(padded(op.key), op.heads, width, {0, 2, 1, 3});
      products = binary(BinaryFunction::kAdd, products, by_place(rows, *more->queries, op, places.of_keys));
    }
  }
  const Value scores = binary(BinaryFunction::kAdd, scaled(products, op), terms);
  Value context = matmul(add(primitive::Softmax{.x = scores}), value);
  // A token whose scores are all minimal would get the mean of tokens that it must not attend to.
  if (op.may_be_unattended && (op.window || op.causal)) context = multiply(context, sight(op));
  context = transpose(context, {0, 2, 1, 3});
  return repacked(add(primitive::Reshape{.x = context, .shape = {0, 0, hidden}}), hidden);
}

}  // namespace latebind::graph
