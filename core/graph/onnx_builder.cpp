#include "core/graph/onnx_builder.h"

#include <fmt/format.h>

#include "core/graph/onnx_schema.h"

namespace latebind::graph {
namespace {

ProtobufMessage attribute_head(std::string_view name) {
  ProtobufMessage attribute;
  attribute.add_bytes(AttributeProto::kName, name);
  return attribute;
}

}  // namespace

ProtobufMessage int_attribute(std::string_view name, std::int64_t value) {
  ProtobufMessage attribute = attribute_head(name);
  attribute.add_int(AttributeProto::kInt, value);
  attribute.add_varint(AttributeProto::kType, AttributeProto::kIsInt);
  return attribute;
}

ProtobufMessage ints_attribute(std::string_view name, std::span<const std::int64_t> values) {
  ProtobufMessage attribute = attribute_head(name);
  for (const std::int64_t value : values)
    attribute.add_int(AttributeProto::kInts, value);
  attribute.add_varint(AttributeProto::kType, AttributeProto::kIsInts);
  return attribute;
}

ProtobufMessage float_attribute(std::string_view name, float value) {
  ProtobufMessage attribute = attribute_head(name);
  attribute.add_float(AttributeProto::kFloat, value);
  attribute.add_varint(AttributeProto::kType, AttributeProto::kIsFloat);
  return attribute;
}

ProtobufMessage floats_attribute(std::string_view name, std::span<const float> values) {
  ProtobufMessage attribute = attribute_head(name);
  for (const float value : values)
    attribute.add_float(AttributeProto::kFloats, value);
  attribute.add_varint(AttributeProto::kType, AttributeProto::kIsFloats);
  return attribute;
}

ProtobufMessage string_attribute(std::string_view name, std::string_view value) {
  ProtobufMessage attribute = attribute_head(name);
  attribute.add_bytes(AttributeProto::kString, value);
  attribute.add_varint(AttributeProto::kType, AttributeProto::kIsString);
  return attribute;
}

ProtobufMessage strings_attribute(std::string_view name, std::span<const std::string_view> values) {
  ProtobufMessage attribute = attribute_head(name);
  for (const std::string_view value : values)
    attribute.add_bytes(AttributeProto::kStrings, value);
  attribute.add_varint(AttributeProto::kType, AttributeProto::kIsStrings);
  return attribute;
}

ProtobufMessage tensor_attribute(std::string_view name, const ProtobufMessage& tensor) {
  ProtobufMessage attribute = attribute_head(name);
  attribute.add_message(AttributeProto::kTensor, tensor);
  attribute.add_varint(AttributeProto::kType, AttributeProto::kIsTensor);
  return attribute;
}

ProtobufMessage node_message(std::string_view op, std::span<const std::string> inputs,
                             std::span<const std::string> outputs, std::string_view name,
                             std::span<const ProtobufMessage> attributes, std::string_view domain) {
  ProtobufMessage node;
  for (const std::string& input : inputs)
    node.add_bytes(NodeProto::kInput, input);
  for (const std::string& output : outputs)
    node.add_bytes(NodeProto::kOutput, output);
  node.add_bytes(NodeProto::kName, name);
  node.add_bytes(NodeProto::kOpType, op);
  for (const ProtobufMessage& attribute : attributes)
    node.add_message(NodeProto::kAttribute, attribute);
  if (!domain.empty()) node.add_bytes(NodeProto::kDomain, domain);
  return node;
}

ProtobufMessage value_info(std::string_view name, std::int64_t type,
                           std::optional<std::span<const OnnxDimension>> shape) {
  ProtobufMessage tensor;
  tensor.add_int(TensorTypeProto::kElemType, type);
  if (shape) {
    ProtobufMessage dimensions;
    for (const OnnxDimension& dimension : *shape) {
      ProtobufMessage message;
      if (dimension.size >= 0) {
        message.add_int(DimensionProto::kValue, dimension.size);
      } else if (!dimension.name.empty()) {
        message.add_bytes(DimensionProto::kParam, dimension.name);
      }
      dimensions.add_message(TensorShapeProto::kDim, message);
    }
    tensor.add_message(TensorTypeProto::kShape, dimensions);
  }
  ProtobufMessage whole;
  whole.add_message(TypeProto::kTensorType, tensor);
  ProtobufMessage value;
  value.add_bytes(ValueInfoProto::kName, name);
  value.add_message(ValueInfoProto::kType, whole);
  return value;
}

ProtobufMessage tensor_head(std::int64_t type, std::span<const std::int64_t> shape, std::string_view name) {
  ProtobufMessage tensor;
  for (const std::int64_t dimension : shape)
    tensor.add_int(TensorProto::kDims, dimension);
  tensor.add_int(TensorProto::kDataType, type);
  if (!name.empty()) tensor.add_bytes(TensorProto::kName, name);
  return tensor;
}

void add_external_place(ProtobufMessage& tensor, const ExternalPlace& place) {
  const auto add = [&tensor](std::string_view key, std::string_view value) {
    ProtobufMessage entry;
    entry.add_bytes(StringStringEntryProto::kKey, key);
    entry.add_bytes(StringStringEntryProto::kValue, value);
    tensor.add_message(TensorProto::kExternalData, entry);
  };
  add("location", place.location);
  add("offset", fmt::to_string(place.offset));
  if (place.length != ExternalPlace::kToTheEnd) add("length", fmt::to_string(place.length));
}

ProtobufMessage operator_set(std::string_view domain, std::int64_t version) {
  ProtobufMessage message;
  message.add_bytes(OperatorSetIdProto::kDomain, domain);
  message.add_int(OperatorSetIdProto::kVersion, version);
  return message;
}

std::string model_head(std::int64_t ir_version, std::int64_t opset, std::string_view producer_version,
                       std::uint64_t graph_size) {
  ProtobufMessage model;
  model.add_int(ModelProto::kIrVersion, ir_version);
  model.add_bytes(ModelProto::kProducerName, "latebind");
  if (!producer_version.empty()) model.add_bytes(ModelProto::kProducerVersion, producer_version);
  model.add_message(ModelProto::kOpsetImport, operator_set("", opset));
  model.add_head(ModelProto::kGraph, graph_size);
  return model.bytes();
}

}  // namespace latebind::graph
