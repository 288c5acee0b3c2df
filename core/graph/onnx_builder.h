// Builds the messages of an ONNX model. All code that writes ONNX uses these functions, and adds to the messages what
// only it needs, by the field numbers in onnx_schema.h.
//
// Source: onnx.proto of ONNX 1.16. Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/onnx_structure.h"
#include "core/graph/protobuf.h"

namespace latebind::graph {

// AttributeProto.
[[nodiscard]] ProtobufMessage int_attribute(std::string_view name, std::int64_t value);
[[nodiscard]] ProtobufMessage ints_attribute(std::string_view name, std::span<const std::int64_t> values);
[[nodiscard]] ProtobufMessage float_attribute(std::string_view name, float value);
[[nodiscard]] ProtobufMessage floats_attribute(std::string_view name, std::span<const float> values);
[[nodiscard]] ProtobufMessage string_attribute(std::string_view name, std::string_view value);
[[nodiscard]] ProtobufMessage strings_attribute(std::string_view name, std::span<const std::string_view> values);
[[nodiscard]] ProtobufMessage tensor_attribute(std::string_view name, const ProtobufMessage& tensor);

// NodeProto. Without a domain, the operator is one of ONNX's own.
[[nodiscard]] ProtobufMessage node_message(std::string_view op, std::span<const std::string> inputs,
                                           std::span<const std::string> outputs, std::string_view name,
                                           std::span<const ProtobufMessage> attributes = {},
                                           std::string_view domain = {});

// A dimension of ValueInfoProto. Without a size it has a name, or "" if nothing is known about it.
struct OnnxDimension {
  std::int64_t size = -1;
  std::string_view name{};
};

// ValueInfoProto: an input, an output or a value between nodes. `type` is ONNX's number of the element type
// (onnx_types.h).
[[nodiscard]] ProtobufMessage value_info(std::string_view name, std::int64_t type,
                                         std::optional<std::span<const OnnxDimension>> shape);

// TensorProto without its data, which the caller adds. The tensor of an attribute has no name.
[[nodiscard]] ProtobufMessage tensor_head(std::int64_t type, std::span<const std::int64_t> shape,
                                          std::string_view name = {});
// Adds the entries that name the place of a tensor's data. A tensor whose data moves out of the model also needs
// TensorProto::kDataLocation.
void add_external_place(ProtobufMessage& tensor, const ExternalPlace& place);

// OperatorSetIdProto.
[[nodiscard]] ProtobufMessage operator_set(std::string_view domain, std::int64_t version);

// Returns all bytes of a model before its graph, whose bytes follow. Without a version, the producer has only a name.
[[nodiscard]] std::string model_head(std::int64_t ir_version, std::int64_t opset, std::string_view producer_version,
                                     std::uint64_t graph_size);

}  // namespace latebind::graph
