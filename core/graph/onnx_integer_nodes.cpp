#include "core/graph/onnx_integer_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/onnx_schema.h"
#include "core/graph/onnx_types.h"
#include "core/graph/protobuf.h"

namespace latebind::graph {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Bytes = std::span<const std::byte>;

// Operators that produce integers or truth values from any input. Sorted.
constexpr std::array<std::string_view, 16> kGiveIntegers{
    "And",   "ArgMax", "ArgMin", "Equal",       "Greater",           "GreaterOrEqual",
    "IsInf", "IsNaN",  "Less",   "LessOrEqual", "NonMaxSuppression", "NonZero",
    "Not",   "Or",     "Shape",  "Size",
};
// Operators that produce other types than they take, or are matrix products: the work that a device is for. Sorted.
constexpr std::array<std::string_view, 14> kWork{
    "Bernoulli", "Conv",   "ConvInteger",   "ConvTranspose", "DequantizeLinear", "Einsum",        "EyeLike",
    "Gemm",      "MatMul", "MatMulInteger", "Multinomial",   "QLinearConv",      "QLinearMatMul", "RandomUniformLike",
};

bool is_integer_type(std::uint64_t number) {
  const auto type = element_type_of_onnx(static_cast<std::int64_t>(number));
  if (!type) return false;
  switch (*type) {
    case core::ElementType::kF16:
    case core::ElementType::kBF16:
    case core::ElementType::kF32:
    case core::ElementType::kF64:
      return false;
    default:
      return true;
  }
}

// Returns the last varint of this number.
std::uint64_t number_in(Bytes message, std::uint32_t field_number) {
  std::uint64_t number = 0;
  ProtobufFields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == field_number && field->kind == ProtobufKind::kVarint) number = field->value;
  }
  return number;
}

struct OnnxNode {
  std::string_view name;
  std::string_view type;
  std::string_view domain;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::optional<std::uint64_t> to;  // for Cast: the type that it produces
  bool has_integer_value = false;   // for Constant and ConstantOfShape
  bool has_graph = false;           // for If and Loop
};

void read_attribute(Bytes bytes, OnnxNode& node) {
  ProtobufFields fields(bytes);
  std::string_view name;
  std::uint64_t number = 0;
  bool has_integer = false;
  while (const auto field = fields.next()) {
    if (field->number == AttributeProto::kName) name = field->text();
    if (field->number == AttributeProto::kInt) number = field->value;
    if (field->number == AttributeProto::kInt || field->number == AttributeProto::kInts) has_integer = true;
    if (field->number == AttributeProto::kTensor)
      has_integer = is_integer_type(number_in(field->bytes, TensorProto::kDataType));
    if (field->number == AttributeProto::kGraph || field->number == AttributeProto::kGraphs) node.has_graph = true;
  }
  if (name == "to") node.to = number;
  if (name.starts_with("value") && has_integer) node.has_integer_value = true;
}

OnnxNode read_node(Bytes bytes) {
  OnnxNode node;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == NodeProto::kInput) node.inputs.push_back(field->text());
    if (field->number == NodeProto::kOutput) node.outputs.push_back(field->text());
    if (field->number == NodeProto::kName) node.name = field->text();
    if (field->number == NodeProto::kOpType) node.type = field->text();
    if (field->number == NodeProto::kDomain) node.domain = field->text();
    if (field->number == NodeProto::kAttribute) read_attribute(field->bytes, node);
  }
  return node;
}

bool gives_integers(const OnnxNode& node, bool takes_integers) {
  if (node.type == "Cast") return node.to && is_integer_type(*node.to);
  if (node.type == "Constant" || node.type == "ConstantOfShape") return node.has_integer_value;
  return std::ranges::binary_search(kGiveIntegers, node.type) || (takes_integers && !node.inputs.empty());
}

}  // namespace

Result<std::set<std::string, std::less<>>> read_integer_nodes(Bytes bytes, std::string_view name) {
  static_assert(std::ranges::is_sorted(kGiveIntegers) && std::ranges::is_sorted(kWork));
  const Bytes graph = sub_message(bytes, ModelProto::kGraph);
  ProtobufFields fields(graph);
  std::set<std::string_view> integers;
  std::vector<Bytes> nodes;
  while (const auto field = fields.next()) {
    if (field->number == GraphProto::kNode) nodes.push_back(field->bytes);
    if (field->number == GraphProto::kInitializer && is_integer_type(number_in(field->bytes, TensorProto::kDataType))) {
      integers.insert(text_in(field->bytes, TensorProto::kName));
    }
    if (field->number == GraphProto::kInput) {
      const Bytes tensor = sub_message(sub_message(field->bytes, ValueInfoProto::kType), TypeProto::kTensorType);
      if (is_integer_type(number_in(tensor, TensorTypeProto::kElemType)))
        integers.insert(text_in(field->bytes, ValueInfoProto::kName));
    }
  }
  if (graph.empty() || fields.damaged()) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: not an ONNX model, or damaged", name));
  }
  std::set<std::string, std::less<>> found;
  // A file lists nodes in the order in which they are computed.
  for (const Bytes one : nodes) {
    const OnnxNode node = read_node(one);
    const bool is_known = (node.domain.empty() || node.domain == "ai.onnx") && !node.has_graph;
    const bool takes_integers = std::ranges::all_of(
        node.inputs, [&](std::string_view input) { return input.empty() || integers.contains(input); });
    if (!is_known || std::ranges::binary_search(kWork, node.type)) continue;
    if (takes_integers && !node.inputs.empty() && !node.name.empty()) found.emplace(node.name);
    if (!gives_integers(node, takes_integers)) continue;
    integers.insert(node.outputs.begin(), node.outputs.end());
  }
  return found;
}

}  // namespace latebind::graph
