#include "embedding/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace latebind::embedding {

using core::ElementType;

Value Graph::append(Node node) {
  const Value value{static_cast<std::uint32_t>(nodes_.size())};
  if (node.name.empty()) node.name = fmt::format("v{}", nodes_.size());
  nodes_.push_back(std::move(node));
  return value;
}

Value Graph::input(std::string_view name, ElementType type, std::initializer_list<std::int64_t> shape) {
  return append({.op = Operator::kInput, .name = std::string(name), .type = type, .shape = shape});
}

Value Graph::weight(const StoredTensor& tensor) {
  return append({.op = Operator::kWeight,
                 .name = tensor.name,
                 .type = tensor.type,
                 .shape = tensor.shape,
                 .offset = tensor.offset,
                 .bytes = tensor.bytes});
}

Value Graph::own(ElementType type, std::vector<std::int64_t> shape, std::span<const std::byte> bytes) {
  // The same constant stands there once: attention alone would repeat its shapes for each layer.
  const auto same = std::ranges::find_if(nodes_, [&](const Node& node) {
    return node.op == Operator::kConstant && node.type == type && node.shape == shape &&
           std::ranges::equal(node.bytes, bytes);
  });
  if (same != nodes_.end()) return {static_cast<std::uint32_t>(same - nodes_.begin())};
  constants_.emplace_back(bytes.begin(), bytes.end());
  return append({.op = Operator::kConstant,
                 .name = fmt::format("c{}", nodes_.size()),
                 .type = type,
                 .shape = std::move(shape),
                 .bytes = constants_.back()});
}

Value Graph::constant(float value) {
  return own(ElementType::kF32, {}, std::as_bytes(std::span(&value, 1)));
}

Value Graph::constant(std::int64_t value) {
  return own(ElementType::kI64, {}, std::as_bytes(std::span(&value, 1)));
}

Value Graph::constant(std::span<const std::int64_t> values) {
  return own(ElementType::kI64, {static_cast<std::int64_t>(values.size())}, std::as_bytes(values));
}

Value Graph::convert(Value x, ElementType type) {
  if (node(x).type == type) return x;
  return append({.op = Operator::kConvert, .name = {}, .type = type, .inputs = {x}});
}

Value Graph::gather(Value data, Value indices, std::int64_t axis) {
  return append(
      {.op = Operator::kGather, .name = {}, .type = node(data).type, .inputs = {data, indices}, .axis = axis});
}

Value Graph::gather_row(Value data, Value indices) {
  return append({.op = Operator::kGatherRow, .name = {}, .type = node(data).type, .inputs = {data, indices}});
}

Value Graph::first_rows(Value table, Value like) {
  return append({.op = Operator::kFirstRows, .name = {}, .type = node(table).type, .inputs = {table, like}});
}

Value Graph::binary(Operator op, Value a, Value b) {
  return append({.op = op, .name = {}, .type = node(a).type, .inputs = {a, b}});
}

Value Graph::matmul(Value a, Value b, bool transpose_b) {
  return append(
      {.op = Operator::kMatMul, .name = {}, .type = node(a).type, .inputs = {a, b}, .transpose_b = transpose_b});
}

Value Graph::reshape(Value x, std::initializer_list<std::int64_t> shape) {
  return append({.op = Operator::kReshape, .name = {}, .type = node(x).type, .inputs = {x}, .axes = shape});
}

Value Graph::transpose(Value x, std::initializer_list<std::int64_t> permutation) {
  return append({.op = Operator::kTranspose, .name = {}, .type = node(x).type, .inputs = {x}, .axes = permutation});
}

Value Graph::unsqueeze(Value x, std::initializer_list<std::int64_t> axes) {
  return append({.op = Operator::kUnsqueeze, .name = {}, .type = node(x).type, .inputs = {x}, .axes = axes});
}

Value Graph::squeeze(Value x, std::initializer_list<std::int64_t> axes) {
  return append({.op = Operator::kSqueeze, .name = {}, .type = node(x).type, .inputs = {x}, .axes = axes});
}

Value Graph::softmax(Value x) {
  return append({.op = Operator::kSoftmax, .name = {}, .type = node(x).type, .inputs = {x}});
}

Value Graph::layer_norm(Value x, Value weight, Value bias, double epsilon) {
  return append(
      {.op = Operator::kLayerNorm, .name = {}, .type = node(x).type, .inputs = {x, weight, bias}, .epsilon = epsilon});
}

Value Graph::activation(Operator op, Value x) {
  return append({.op = op, .name = {}, .type = node(x).type, .inputs = {x}});
}

Value Graph::reduce(Operator op, Value x, std::initializer_list<std::int64_t> axes, bool keep_dimensions) {
  return append(
      {.op = op, .name = {}, .type = node(x).type, .inputs = {x}, .axes = axes, .keep_dimensions = keep_dimensions});
}

void Graph::set_output(Value x, std::string name, std::initializer_list<std::int64_t> shape) {
  output_ = x;
  output_shape_ = shape;
  output_name_ = std::move(name);
}

}  // namespace latebind::embedding
