#include "core/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace latebind::graph {
namespace {

using core::ElementType;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;

// An order of magnitude more than any known model uses.
constexpr std::int64_t kFarthestMax = 4096;
constexpr std::int64_t kKernelMax = 63;
constexpr std::int64_t kExpertsMax = 1024;
// The largest number of elements in a table of cosines.
constexpr std::int64_t kTurnsMax = std::int64_t{1} << 24;

struct Type {
  ElementType element = ElementType::kF32;
  Shape shape;
};

std::string text_of(ElementType type, const Shape& shape) {
  return fmt::format("{} {}", core::name_of(type), shape.to_string());
}

// Whether `end` equals the last dimensions of `shape`, or all of them.
bool is_end_of(const Shape& end, const Shape& shape) {
  if (end.rank() > shape.rank()) return false;
  const std::size_t skip = shape.rank() - end.rank();
  for (std::size_t i = 0; i < end.rank(); ++i) {
    if (end[i] != shape[skip + i]) return false;
  }
  return true;
}

// Checks the operands of each operator and determines its result.
class Rules {
 public:
  explicit Rules(const Graph& graph) : graph_(graph) {}

  Result<Type> operator()(const Input& op) const { return Type{op.type, op.shape}; }

  Result<Type> operator()(const Lookup& op) const {
    LB_RETURN_IF_ERROR(check_table(op.table));
    LB_RETURN_IF_ERROR(check_per_token("lookup", op.ids));
    const Shape& ids = shape_of(op.ids);
    return Type{ElementType::kF32, Shape{ids[0], ids[1], op.table.shape[1]}};
  }

  Result<Type> operator()(const PositionLookup& op) const {
    LB_RETURN_IF_ERROR(check_table(op.table));
    LB_RETURN_IF_ERROR(check_per_token("position lookup", op.ids));
    const Shape& ids = shape_of(op.ids);
    if (!op.padding) return Type{ElementType::kF32, Shape{ids[1], op.table.shape[1]}};
    if (*op.padding < 0 || *op.padding >= op.table.shape[0] - 1) {
      return misfit(
          fmt::format("padding {} of '{}', which has {} rows", *op.padding, op.table.name, op.table.shape[0]));
    }
    return Type{ElementType::kF32, Shape{ids[0], ids[1], op.table.shape[1]}};
  }

  Result<Type> operator()(const RowLookup& op) const {
    LB_RETURN_IF_ERROR(check_table(op.table));
    if (op.row < 0 || op.row >= op.table.shape[0]) {
      return misfit(fmt::format("row {} of '{}', which has {}", op.row, op.table.name, op.table.shape[0]));
    }
    return Type{ElementType::kF32, Shape{op.table.shape[1]}};
  }

  Result<Type> operator()(const WholeTable& op) const {
    LB_RETURN_IF_ERROR(check_table(op.table));
    return Type{ElementType::kF32, op.table.shape};
  }

  Result<Type> operator()(const Add& op) const {
    LB_RETURN_IF_ERROR(check_numbers("add", op.a));
    LB_RETURN_IF_ERROR(check_numbers("add", op.b));
    if (!is_end_of(shape_of(op.b), shape_of(op.a))) {
      return misfit(fmt::format("adding {} to {}", text_of(op.b), text_of(op.a)));
    }
    return as(op.a);
  }

  Result<Type> operator()(const Multiply& op) const {
    LB_RETURN_IF_ERROR(check_numbers("multiply", op.a));
    LB_RETURN_IF_ERROR(check_numbers("multiply", op.b));
    if (!(shape_of(op.a) == shape_of(op.b)))
      return misfit(fmt::format("multiplying {} by {}", text_of(op.a), text_of(op.b)));
    return as(op.a);
  }

  Result<Type> operator()(const Scale& op) const {
    LB_RETURN_IF_ERROR(check_numbers("scaling", op.x));
    if (!std::isfinite(op.factor)) return misfit(fmt::format("scaling by {}", op.factor));
    return as(op.x);
  }

  Result<Type> operator()(const Columns& op) const {
    LB_RETURN_IF_ERROR(check_numbers("columns", op.x));
    Shape shape = shape_of(op.x);
    const std::size_t last = shape.rank() - 1;
    const bool fits = op.width > 0 && shape[last] % op.width == 0 && op.first >= 0 && op.count > 0 &&
                      op.first < op.width && op.count <= op.width - op.first;
    if (!fits)
      return misfit(fmt::format("{} columns from {} on of each {} of {}", op.count, op.first, op.width, text_of(op.x)));
    shape[last] = shape[last] / op.width * op.count;
    return Type{ElementType::kF32, shape};
  }

  Result<Type> operator()(const Convolution& op) const {
    LB_RETURN_IF_ERROR(check_numbers("convolution", op.x));
    LB_RETURN_IF_ERROR(check_weight(op.weight, 3));
    if (op.bias) LB_RETURN_IF_ERROR(check_weight(*op.bias, 1));
    const Shape& shape = shape_of(op.x);
    const Shape& weight = op.weight.shape;
    const bool fits = shape.rank() == 3 && shape[2] == weight[1] && weight[0] > 0 && weight[2] % 2 == 1 &&
                      weight[2] <= kKernelMax && (!op.bias || op.bias->shape[0] == weight[0]);
    if (!fits)
      return misfit(fmt::format("convolution of {} by '{}' {}", text_of(op.x), op.weight.name, weight.to_string()));
    LB_RETURN_IF_ERROR(check_mask("convolution", op.x, op.mask));
    return Type{ElementType::kF32, Shape{shape[0], shape[1], weight[0]}};
  }

  Result<Type> operator()(const Linear& op) const {
    LB_RETURN_IF_ERROR(check_numbers("linear", op.x));
    LB_RETURN_IF_ERROR(check_weight(op.weight, 2));
    Shape shape = shape_of(op.x);
    const std::size_t last = shape.rank() - 1;
    if (shape[last] != op.weight.shape[1])
      return misfit(fmt::format("'{}' {} for {}", op.weight.name, op.weight.shape.to_string(), text_of(op.x)));
    if (op.bias) {
      LB_RETURN_IF_ERROR(check_weight(*op.bias, 1));
      if (op.bias->shape[0] != op.weight.shape[0]) {
        return misfit(fmt::format("'{}' {} and '{}' {} for {}", op.weight.name, op.weight.shape.to_string(),
                                  op.bias->name, op.bias->shape.to_string(), text_of(op.x)));
      }
    }
    shape[last] = op.weight.shape[0];
    return Type{ElementType::kF32, shape};
  }

  Result<Type> operator()(const Attention& op) const {
    for (const Value value : {op.query, op.key, op.value})
      LB_RETURN_IF_ERROR(check_numbers("attention", value));
    LB_RETURN_IF_ERROR(check_heads(op.query, op.heads));
    const bool shares = op.key_heads > 0 && op.heads % op.key_heads == 0;
    if (!shares) return misfit(fmt::format("attention of {} heads to {}", op.heads, op.key_heads));
    Shape keys = shape_of(op.query);
    keys[2] = keys[2] / op.heads * op.key_heads;
    for (const Value value : {op.key, op.value}) {
      if (!(shape_of(value) == keys))
        return misfit(fmt::format("attention of {} to {} with {} heads", text_of(op.query), text_of(value), op.heads));
    }
    LB_RETURN_IF_ERROR(check_mask("attention", op.query, op.mask));
    // The softmax of the backends relies on a positive scale: the largest product has the largest score.
    if (!std::isfinite(op.scale) || op.scale <= 0) return misfit(fmt::format("attention scaled by {}", op.scale));
    if (op.distance_bias) LB_RETURN_IF_ERROR(check_distances(*op.distance_bias, op.heads));
    if (op.linear_bias) LB_RETURN_IF_ERROR(check_slopes(*op.linear_bias, op.heads));
    if (op.distance_bias && op.linear_bias) return misfit("attention with two biases of distances");
    if (op.disentangled) LB_RETURN_IF_ERROR(check_disentangled(op));
    if (op.rotary) LB_RETURN_IF_ERROR(check_rotary(*op.rotary, shape_of(op.query)[2] / op.heads));
    if (op.soft_cap && (!std::isfinite(*op.soft_cap) || *op.soft_cap <= 0))
      return misfit(fmt::format("attention capped at {}", *op.soft_cap));
    if (op.may_be_unattended && has<ShortConvolution>())
      return misfit("short convolution of tokens that may be unattended");
    if (op.soft_cap && op.disentangled) return misfit("disentangled attention with a soft cap");
    if (op.window && (*op.window < 0 || *op.window > kFarthestMax))
      return misfit(fmt::format("attention within {} tokens", *op.window));
    return as(op.query);
  }

  Result<Type> operator()(const ShortConvolution& op) const {
    LB_RETURN_IF_ERROR(check_numbers("short convolution", op.x));
    const Shape& shape = shape_of(op.x);
    if (shape.rank() != 3) return misfit(fmt::format("short convolution of {}", text_of(op.x)));
    LB_RETURN_IF_ERROR(check_mask("short convolution", op.x, op.mask));
    LB_RETURN_IF_ERROR(check_weight(op.weight, 2));
    const std::int64_t count = op.weight.shape[1];
    if (op.weight.shape[0] != shape[2] || count < 1 || count > kKernelMax)
      return misfit(fmt::format("'{}' {} for {}", op.weight.name, op.weight.shape.to_string(), text_of(op.x)));
    if (op.bias) LB_RETURN_IF_ERROR(check_columns(*op.bias, op.x));
    if (has<Attention>(has_unattended)) return misfit("short convolution of tokens that may be unattended");
    return as(op.x);
  }

  Result<Type> operator()(const Experts& op) const {
    for (const Value value : {op.x, op.router})
      LB_RETURN_IF_ERROR(check_numbers("experts", value));
    Shape router = shape_of(op.x);
    const Shape shape = router;
    if (shape.rank() == 3 && shape_of(op.router).rank() == 3) router[2] = shape_of(op.router)[2];
    if (shape.rank() != 3 || !(shape_of(op.router) == router))
      return misfit(fmt::format("experts for {} by {}", text_of(op.x), text_of(op.router)));
    const std::int64_t experts = router[2];
    if (experts < 1 || experts > kExpertsMax || op.chosen < 1 || op.chosen > experts)
      return misfit(fmt::format("{} of {} experts", op.chosen, experts));
    for (const Weight* weight : {&op.wide, &op.narrow}) {
      LB_RETURN_IF_ERROR(check_weight(*weight, 2));
      const Shape& of = weight->shape;
      if (of[1] != shape[2] || of[0] < 1 || of[0] % experts != 0 || !(of == op.wide.shape))
        return misfit(
            fmt::format("'{}' {} of {} experts for {}", weight->name, of.to_string(), experts, text_of(op.x)));
    }
    if (op.bias) LB_RETURN_IF_ERROR(check_columns(*op.bias, op.x));
    return as(op.x);
  }

  Result<Type> operator()(const LayerNorm& op) const {
    LB_RETURN_IF_ERROR(check_numbers("layer norm", op.x));
    LB_RETURN_IF_ERROR(check_columns(op.weight, op.x));
    if (op.bias) LB_RETURN_IF_ERROR(check_columns(*op.bias, op.x));
    return as(op.x);
  }

  Result<Type> operator()(const RmsNorm& op) const {
    LB_RETURN_IF_ERROR(check_numbers("RMS norm", op.x));
    LB_RETURN_IF_ERROR(check_weight(op.weight, 1));
    const Shape& shape = shape_of(op.x);
    const std::int64_t width = op.weight.shape[0];
    if (width > 0 && shape[shape.rank() - 1] % width == 0) return as(op.x);
    return misfit(fmt::format("'{}' {} for {}", op.weight.name, op.weight.shape.to_string(), text_of(op.x)));
  }

  Result<Type> operator()(const Activation& op) const {
    LB_RETURN_IF_ERROR(check_numbers("activation", op.x));
    return as(op.x);
  }

  Result<Type> operator()(const Pool& op) const {
    LB_RETURN_IF_ERROR(check_numbers("pooling", op.x));
    const Shape& shape = shape_of(op.x);
    if (shape.rank() != 3) return misfit(fmt::format("pooling {}", text_of(op.x)));
    LB_RETURN_IF_ERROR(check_mask("pooling", op.x, op.mask));
    if (has<Attention>(has_unattended)) return misfit("pooling tokens that may be unattended");
    return Type{ElementType::kF32, Shape{shape[0], shape[2]}};
  }

  Result<Type> operator()(const Normalize& op) const {
    LB_RETURN_IF_ERROR(check_numbers("normalisation", op.x));
    const std::size_t rank = shape_of(op.x).rank();
    if (rank != 2 && rank != 3) return misfit(fmt::format("normalising {}", text_of(op.x)));
    return as(op.x);
  }

 private:
  static Status misfit(std::string_view what) {
    return Status(StatusCode::kInvalidModel, fmt::format("the network does not fit together: {}", what));
  }
  [[nodiscard]] const Shape& shape_of(Value value) const { return graph_.node(value).shape; }
  [[nodiscard]] std::string text_of(Value value) const {
    return graph::text_of(graph_.node(value).type, shape_of(value));
  }
  [[nodiscard]] Type as(Value value) const { return {graph_.node(value).type, shape_of(value)}; }

  [[nodiscard]] Status check_value(std::string_view who, Value value) const {
    return value.node < graph_.nodes().size() ? Status() : misfit(fmt::format("{} of an unknown value", who));
  }
  // Checks for f32 with at least one dimension.
  [[nodiscard]] Status check_numbers(std::string_view who, Value value) const {
    LB_RETURN_IF_ERROR(check_value(who, value));
    const bool fits = graph_.node(value).type == ElementType::kF32 && shape_of(value).rank() > 0;
    return fits ? Status() : misfit(fmt::format("{} of {}", who, text_of(value)));
  }
  // Checks for i64 [B,T].
  [[nodiscard]] Status check_per_token(std::string_view who, Value value) const {
    LB_RETURN_IF_ERROR(check_value(who, value));
    const bool fits = graph_.node(value).type == ElementType::kI64 && shape_of(value).rank() == 2;
    return fits ? Status() : misfit(fmt::format("{} of {}", who, text_of(value)));
  }
  [[nodiscard]] Status check_mask(std::string_view who, Value of, Value mask) const {
    LB_RETURN_IF_ERROR(check_per_token(who, mask));
    const bool fits = shape_of(mask)[0] == shape_of(of)[0] && shape_of(mask)[1] == shape_of(of)[1];
    return fits ? Status() : misfit(fmt::format("{} of {} with a mask {}", who, text_of(of), text_of(mask)));
  }
  [[nodiscard]] Status check_heads(Value query, std::int64_t heads) const {
    const Shape& shape = shape_of(query);
    const bool fits = shape.rank() == 3 && heads > 0 && shape[2] % heads == 0;
    return fits ? Status() : misfit(fmt::format("attention with {} heads of {}", heads, text_of(query)));
  }
  [[nodiscard]] Status check_columns(const Weight& weight, Value value) const {
    LB_RETURN_IF_ERROR(check_weight(weight, 1));
    if (is_end_of(weight.shape, shape_of(value))) return {};
    return misfit(fmt::format("'{}' {} for {}", weight.name, weight.shape.to_string(), text_of(value)));
  }
  template <class T>
  [[nodiscard]] bool has(bool (*is)(const T& op) = [](const T&) { return true; }) const {
    return std::ranges::any_of(graph_.nodes(), [is](const Node& node) {
      const auto* const op = std::get_if<T>(&node.op);
      return op != nullptr && is(*op);
    });
  }
  static bool has_unattended(const Attention& op) { return op.may_be_unattended; }
  [[nodiscard]] Status check_distances(const DistanceBias& bias, std::int64_t heads) const {
    LB_RETURN_IF_ERROR(check_table(bias.table));
    const std::int64_t buckets = bias.table.shape[0];
    const bool fits = buckets > 0 && buckets % 4 == 0 && bias.table.shape[1] == heads && bias.farthest > buckets / 4 &&
                      bias.farthest <= kFarthestMax;
    return fits ? Status()
                : misfit(fmt::format("distances up to {} in '{}' {} for {} heads", bias.farthest, bias.table.name,
                                     bias.table.shape.to_string(), heads));
  }
  [[nodiscard]] Status check_disentangled(const Attention& op) const {
    const Disentangled& terms = *op.disentangled;
    const std::int64_t half = terms.span / 2;
    const bool has_places = !terms.farthest || (terms.span % 2 == 0 && half > 1 && *terms.farthest > half + 1 &&
                                                *terms.farthest <= kFarthestMax);
    const bool fits =
        terms.span > 0 && terms.span <= kFarthestMax && has_places && op.key_heads == op.heads && !op.rotary;
    if (!fits)
      return misfit(fmt::format("disentangled attention over {} positions up to {} with {} heads to {}{}", terms.span,
                                terms.farthest.value_or(0), op.heads, op.key_heads, op.rotary ? ", turned" : ""));
    if (!terms.keys && !terms.queries) return misfit("disentangled attention without a table");
    const Shape wanted{2 * terms.span, shape_of(op.query)[2]};
    for (const auto& table : {terms.keys, terms.queries}) {
      if (!table) continue;
      LB_RETURN_IF_ERROR(check_numbers("disentangled attention", *table));
      if (!(shape_of(*table) == wanted))
        return misfit(fmt::format("disentangled attention of {} to {}", text_of(op.query), text_of(*table)));
    }
    return {};
  }
  [[nodiscard]] static Status check_rotary(const Rotary& rotary, std::int64_t width) {
    const std::vector<float>& frequencies = rotary.frequencies;
    const bool fits = width == 2 * static_cast<std::int64_t>(frequencies.size()) && are_finite(frequencies) &&
                      std::isfinite(rotary.factor) && rotary.positions > 0 && rotary.positions <= kTurnsMax / width;
    return fits ? Status()
                : misfit(fmt::format("turning {} columns by {} frequencies at {} positions", width, frequencies.size(),
                                     rotary.positions));
  }
  [[nodiscard]] static Status check_slopes(const LinearBias& bias, std::int64_t heads) {
    const bool fits = static_cast<std::int64_t>(bias.slopes.size()) == heads && are_finite(bias.slopes) &&
                      bias.positions > 0 && bias.positions <= kTurnsMax / heads;
    return fits ? Status()
                : misfit(
                      fmt::format("{} slopes at {} positions for {} heads", bias.slopes.size(), bias.positions, heads));
  }
  [[nodiscard]] static bool are_finite(std::span<const float> numbers) {
    return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
  }
  [[nodiscard]] Status check_table(const Weight& table) const { return check_weight(table, 2); }
  [[nodiscard]] Status check_weight(const Weight& weight, std::size_t rank) const {
    const bool known =
        weight.type == ElementType::kF32 || weight.type == ElementType::kF16 || weight.type == ElementType::kBF16;
    const auto size = core::byte_size_of(weight.type, weight.shape);
    if (!known || weight.shape.rank() != rank || !size.ok()) {
      return misfit(fmt::format("'{}' is {}", weight.name, graph::text_of(weight.type, weight.shape)));
    }
    if (weight.file >= graph_.weights().size()) return misfit(fmt::format("'{}' is not in any file", weight.name));
    const std::size_t all = graph_.weights()[weight.file].bytes.bytes.size();
    if (weight.offset <= all && *size <= all - weight.offset) return {};
    return misfit(fmt::format("'{}' is outside the weights", weight.name));
  }

  const Graph& graph_;
};

}  // namespace

std::span<const std::byte> Graph::bytes_of(const Weight& weight) const {
  // It was checked when it was added, so it has a size.
  const auto size = core::byte_size_of(weight.type, weight.shape);
  weights_[weight.file].fill();
  return weights_[weight.file].bytes.bytes.subspan(static_cast<std::size_t>(weight.offset), size.ok() ? *size : 0);
}

bool is_same(const Weight& a, const Weight& b) {
  return a.file == b.file && a.offset == b.offset && a.type == b.type && a.shape == b.shape;
}

Value GraphBuilder::add(Operator op) {
  if (!status_.ok()) return {};
  auto type = std::visit(Rules(graph_), op);
  if (!type.ok()) {
    status_ = type.status();
    return {};
  }
  graph_.nodes_.push_back({.op = std::move(op), .type = type->element, .shape = type->shape});
  return {static_cast<std::uint32_t>(graph_.nodes_.size() - 1)};
}

Result<Graph> GraphBuilder::finish(std::vector<GraphOutput> outputs) && {
  LB_RETURN_IF_ERROR(status_);
  const auto is_missing = [&](const GraphOutput& output) { return output.value.node >= graph_.nodes_.size(); };
  if (outputs.empty() || std::ranges::any_of(outputs, is_missing)) {
    return Status(StatusCode::kInvalidModel, "a network without an output");
  }
  graph_.outputs_ = std::move(outputs);
  return std::move(graph_);
}

}  // namespace latebind::graph
