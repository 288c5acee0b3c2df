#include "core/onnx/port_names.h"

#include <set>
#include <string_view>

#include "core/graph/onnx_schema.h"
#include "core/graph/protobuf.h"

namespace latebind::onnx {
namespace {

using graph::ProtobufFields;
using graph::ProtobufKind;

constexpr std::size_t kPortsMax = 65536;
constexpr std::size_t kGivenNamesMax = std::size_t{1} << 20U;

}  // namespace

PortNames port_names_of(std::span<const std::byte> model) {
  PortNames names;
  std::set<std::string_view> given;  // by the model itself
  ProtobufFields fields(graph::sub_message(model, graph::ModelProto::kGraph));
  while (const auto field = fields.next()) {
    if (field->kind != ProtobufKind::kBytes) continue;
    switch (field->number) {
      case graph::GraphProto::kInitializer:
        given.insert(graph::text_in(field->bytes, graph::TensorProto::kName));
        break;
      case graph::GraphProto::kSparseInitializer:
        given.insert(graph::text_in(graph::sub_message(field->bytes, graph::SparseTensorProto::kValues),
                                    graph::TensorProto::kName));
        break;
      case graph::GraphProto::kInput:
        names.inputs.emplace_back(graph::text_in(field->bytes, graph::ValueInfoProto::kName));
        break;
      case graph::GraphProto::kOutput:
        names.outputs.emplace_back(graph::text_in(field->bytes, graph::ValueInfoProto::kName));
        break;
      default:
        break;
    }
    if (names.inputs.size() + names.outputs.size() + given.size() > kGivenNamesMax) return {};
  }
  if (fields.damaged()) return {};
  std::erase_if(names.inputs, [&](const std::string& name) { return given.contains(name); });
  if (names.inputs.size() > kPortsMax || names.outputs.size() > kPortsMax) return {};
  return names;
}

}  // namespace latebind::onnx
