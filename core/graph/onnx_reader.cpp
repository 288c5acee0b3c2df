#include "core/graph/onnx_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/graph/onnx_schema.h"
#include "core/graph/onnx_types.h"
#include "core/graph/protobuf.h"

namespace latebind::graph {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kOutputsMax = 64;
constexpr std::size_t kInputsMax = 4096;
constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kRankMax = 64;
constexpr std::int64_t kDimensionMax = 1 << 20;

// Returns the size of a dimension; -1 if it is unknown, and std::nullopt if the message is damaged.
std::optional<std::int64_t> read_dimension(Bytes dimension) {
  std::int64_t size = -1;
  ProtobufFields fields(dimension);
  while (const auto field = fields.next()) {
    if (field->number == DimensionProto::kValue && field->kind == ProtobufKind::kVarint)
      size = static_cast<std::int64_t>(field->value);
    if (field->number == DimensionProto::kParam) size = -1;
  }
  if (fields.damaged()) return std::nullopt;
  return std::max<std::int64_t>(size, -1);
}

// For other tensors, sizes and names that no encoder has are left out.
std::optional<OnnxTensor> read_tensor(Bytes value_info) {
  const auto declared = read_value_info(value_info);
  if (!declared) return std::nullopt;
  OnnxTensor tensor;
  tensor.name = text_in(value_info, ValueInfoProto::kName).substr(0, kNameBytesMax);
  tensor.has_shape = declared->has_shape;
  for (const std::int64_t size : declared->shape)
    tensor.shape.push_back(size <= kDimensionMax ? size : -1);
  return tensor;
}

}  // namespace

std::optional<DeclaredTensor> read_value_info(Bytes value_info) {
  DeclaredTensor declared;
  ProtobufFields tensor(sub_message(sub_message(value_info, ValueInfoProto::kType), TypeProto::kTensorType));
  while (const auto field = tensor.next()) {
    if (field->number == TensorTypeProto::kElemType)
      declared.type = element_type_of_onnx(static_cast<std::int64_t>(field->value));
    if (field->number != TensorTypeProto::kShape) continue;
    declared.has_shape = true;
    ProtobufFields dimensions(field->bytes);
    while (const auto dimension = dimensions.next()) {
      if (dimension->number != TensorShapeProto::kDim) continue;
      const auto size = read_dimension(dimension->bytes);
      if (!size || declared.shape.size() == kRankMax) return std::nullopt;
      declared.shape.push_back(*size);
    }
    if (dimensions.damaged()) return std::nullopt;
  }
  return tensor.damaged() ? std::nullopt : std::optional(std::move(declared));
}

Result<OnnxSignature> read_onnx_signature(Bytes bytes, std::string_view name) {
  const auto damaged = [&] {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: not an ONNX model, or damaged", name));
  };
  Bytes graph;
  ProtobufFields model(bytes);
  while (const auto field = model.next()) {
    if (field->number == ModelProto::kGraph) graph = field->bytes;
  }
  if (model.damaged() || graph.empty()) return damaged();
  OnnxSignature signature;
  ProtobufFields fields(graph);
  std::vector<Bytes> inputs;
  std::set<std::string_view> weights;
  while (const auto field = fields.next()) {
    if (field->number == GraphProto::kInitializer) weights.insert(text_in(field->bytes, TensorProto::kName));
    if (field->number == GraphProto::kInput) inputs.push_back(field->bytes);
    if (field->number != GraphProto::kOutput) continue;
    auto output = read_tensor(field->bytes);
    if (!output || signature.outputs.size() == kOutputsMax) return damaged();
    signature.outputs.push_back(*std::move(output));
  }
  if (fields.damaged() || signature.outputs.empty()) return damaged();
  for (const Bytes input : inputs) {
    if (weights.contains(text_in(input, ValueInfoProto::kName))) continue;
    auto tensor = read_tensor(input);
    if (!tensor || signature.inputs.size() == kInputsMax) return damaged();
    signature.inputs.push_back(*std::move(tensor));
  }
  return signature;
}

}  // namespace latebind::graph
