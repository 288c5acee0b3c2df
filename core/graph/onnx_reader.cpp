#include "core/graph/onnx_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

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
constexpr std::int64_t kDimensionMax = 1 << 20;

OnnxTensor read_tensor(Bytes value_info) {
  OnnxTensor info;
  const Bytes name = sub_message(value_info, 1);
  info.name.assign(reinterpret_cast<const char*>(name.data()), std::min(name.size(), kNameBytesMax));
  // ValueInfoProto.type, TypeProto.tensor_type, Tensor.shape
  ProtobufFields tensor(sub_message(sub_message(value_info, 2), 1));
  while (const auto field = tensor.next()) {
    if (field->number != 2) continue;
    info.has_shape = true;
    ProtobufFields dims(field->bytes);
    while (const auto dim = dims.next()) {
      if (dim->number != 1 || info.shape.size() > 8) continue;
      std::int64_t size = -1;
      ProtobufFields parts(dim->bytes);
      while (const auto part = parts.next()) {
        if (part->number == 1 && part->bytes.empty()) size = static_cast<std::int64_t>(part->value);
      }
      info.shape.push_back(size >= 0 && size <= kDimensionMax ? size : -1);
    }
  }
  return info;
}

}  // namespace

Result<OnnxSignature> read_onnx_signature(Bytes bytes, std::string_view name) {
  const auto damaged = [&] {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: not an ONNX model, or damaged", name));
  };
  Bytes graph;
  ProtobufFields model(bytes);
  while (const auto field = model.next()) {
    if (field->number == 7) graph = field->bytes;
  }
  if (model.damaged() || graph.empty()) return damaged();
  OnnxSignature signature;
  ProtobufFields fields(graph);
  // GraphProto.initializer (TensorProto.name), GraphProto.input and GraphProto.output (ValueInfoProto).
  std::vector<Bytes> inputs;
  std::set<std::string_view> weights;
  while (const auto field = fields.next()) {
    if (field->number == 5) weights.insert(text_in(field->bytes, 8));
    if (field->number == 11) inputs.push_back(field->bytes);
    if (field->number != 12) continue;
    if (signature.outputs.size() == kOutputsMax) return damaged();
    signature.outputs.push_back(read_tensor(field->bytes));
  }
  if (fields.damaged() || signature.outputs.empty()) return damaged();
  for (const Bytes input : inputs) {
    if (weights.contains(text_in(input, 1))) continue;
    if (signature.inputs.size() == kInputsMax) return damaged();
    signature.inputs.push_back(read_tensor(input));
  }
  return signature;
}

}  // namespace latebind::graph
