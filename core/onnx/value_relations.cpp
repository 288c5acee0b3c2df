// Relations between a tensor's numbers and those of another tensor, for cases in which intervals alone lose too much: x
// / sqrt(mean(x²) + e) is bounded by the number of elements for any x, and a product with shares that sum to 1 is a
// mean.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/onnx/value_range.h"

namespace latebind::onnx {
namespace {

using Kind = Relation::Kind;

bool keeps_dimensions(const Node& node) {
  const Attribute* keeps = node.find("keepdims");
  return keeps == nullptr || !keeps->integer || *keeps->integer != 0;
}

// Returns the number of elements in one mean; of all elements if the axis is not known.
double elements_of(const Node& node, std::span<const ValueRange* const> inputs) {
  constexpr double kMost = 1e12;
  const ValueRange& x = *inputs[0];
  if (!x.has_shape) return kMost;
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  std::optional<std::int64_t> axis;
  if (const Attribute* axes = node.find("axes"); axes != nullptr) {
    std::int64_t value = 0;
    const char* end = axes->text.data() + axes->text.size();
    if (const auto read = std::from_chars(axes->text.data(), end, value); read.ec == std::errc() && read.ptr == end)
      axis = value;
  } else if (inputs.size() > 1 && inputs[1] != nullptr && inputs[1]->has_shape && inputs[1]->low == inputs[1]->high &&
             inputs[1]->largest() <= static_cast<double>(rank)) {
    axis = static_cast<std::int64_t>(inputs[1]->low);
  }
  if (axis && *axis < 0) *axis += rank;
  const bool has_axis = axis && *axis >= 0 && *axis < rank;
  double count = 1;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t size = x.shape[static_cast<std::size_t>(i)];
    if (!has_axis || i == *axis) count *= size < 0 ? kSizeMax : static_cast<double>(size);
  }
  return std::clamp(count, 1.0, kMost);
}

bool is_last_axis(const Node& node, const ValueRange& x) {
  const Attribute* axis = node.find("axis");
  const std::int64_t place = axis != nullptr && axis->integer ? *axis->integer : -1;
  return place == -1 || (x.has_shape && place == static_cast<std::int64_t>(x.shape.size()) - 1);
}

const ValueRange* at(std::span<const ValueRange* const> inputs, std::size_t place) {
  return place < inputs.size() ? inputs[place] : nullptr;
}

bool is_finite(const ValueRange& range) {
  return is_float(range.type) && !range.may_be_nan && !range.may_be_infinite();
}

}  // namespace

Relation relation_after(const Node& node, std::span<const ValueRange* const> inputs) {
  const ValueRange* a = at(inputs, 0);
  const ValueRange* b = at(inputs, 1);
  if (a == nullptr) return {};
  const Relation& one = a->relation;
  const auto is_norm = [](const ValueRange* range) { return range != nullptr && range->relation.kind == Kind::kNorm; };
  if (node.op == "Softmax") return is_last_axis(node, *a) ? Relation{Kind::kShares} : Relation{};
  if (node.op == "Pow" && b != nullptr && b->low == 2 && b->high == 2) return {Kind::kSquare, a->id, 1};
  if (node.op == "Mul" && b != nullptr && a->id != 0 && a->id == b->id) return {Kind::kSquare, a->id, 1};
  if (node.op == "ReduceMean" && one.kind == Kind::kSquare && keeps_dimensions(node)) {
    return {Kind::kMeanSquare, one.of, std::sqrt(elements_of(node, inputs))};
  }
  if (node.op == "ReduceL2" && keeps_dimensions(node)) return {Kind::kNorm, a->id, 1};
  if (node.op == "Sqrt" && one.kind == Kind::kMeanSquare) return {Kind::kNorm, one.of, one.times};
  if (node.op == "Add" && b != nullptr) {
    const bool is_more = b->low >= 0;
    if (is_more && (one.kind == Kind::kMeanSquare || one.kind == Kind::kNorm)) return one;
    if (a->low >= 0 && (b->relation.kind == Kind::kMeanSquare || b->relation.kind == Kind::kNorm)) return b->relation;
    return {};
  }
  if (node.op == "Max" && inputs.size() == 2 && is_norm(a)) return one;
  if (node.op == "Clip" && at(inputs, 2) == nullptr && node.find("max") == nullptr && is_norm(a)) return one;
  if ((node.op == "Expand" || node.op == "Identity") && is_norm(a)) return one;
  // 1 / norm, by which its tensor is then multiplied.
  if (node.op == "Reciprocal" && is_norm(a)) return {Kind::kOverNorm, one.of, one.times};
  if (node.op == "Div" && is_norm(b) && is_finite(*a) && a->id != b->relation.of) {
    return {Kind::kOverNorm, b->relation.of, b->relation.times * a->largest()};
  }
  return {};
}

std::optional<double> bound_by_relation(const Node& node, std::span<const ValueRange* const> inputs) {
  const ValueRange* a = at(inputs, 0);
  const ValueRange* b = at(inputs, 1);
  if (a == nullptr || b == nullptr || !is_finite(*a)) return std::nullopt;
  if (node.op == "Div" && b->relation.kind == Kind::kNorm && b->relation.of == a->id && a->id != 0 && b->low > 0) {
    return b->relation.times;
  }
  if (node.op == "Mul") {
    const auto is_of = [](const ValueRange& over, const ValueRange& x) {
      return over.relation.kind == Kind::kOverNorm && over.relation.of == x.id && x.id != 0 && is_finite(x) &&
             is_finite(over);
    };
    if (is_of(*b, *a)) return b->relation.times;
    if (is_of(*a, *b)) return a->relation.times;
  }
  if (node.op == "MatMul" && a->relation.kind == Kind::kShares && is_finite(*b)) return b->largest();
  return std::nullopt;
}

}  // namespace latebind::onnx
