#include "core/onnx/port_names.h"

#include <set>
#include <string_view>

#include "core/graph/protobuf.h"

namespace latebind::onnx {
namespace {

using graph::ProtobufFields;
using graph::ProtobufKind;

constexpr std::size_t kPortsMax = 65536;
constexpr std::size_t kGivenNamesMax = std::size_t{1} << 20U;

// Fields of onnx.proto.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphInitializer = 5;
constexpr std::uint32_t kGraphInput = 11;
constexpr std::uint32_t kGraphOutput = 12;
constexpr std::uint32_t kGraphSparseInitializer = 15;
constexpr std::uint32_t kValueName = 1;
constexpr std::uint32_t kTensorName = 8;
constexpr std::uint32_t kSparseValues = 1;

}  // namespace

PortNames port_names_of(std::span<const std::byte> model) {
  PortNames names;
  std::set<std::string_view> given;  // by the model itself
  ProtobufFields fields(graph::sub_message(model, kModelGraph));
  while (const auto field = fields.next()) {
    if (field->kind != ProtobufKind::kBytes) continue;
    switch (field->number) {
      case kGraphInitializer:
        given.insert(graph::text_in(field->bytes, kTensorName));
        break;
      case kGraphSparseInitializer:
        given.insert(graph::text_in(graph::sub_message(field->bytes, kSparseValues), kTensorName));
        break;
      case kGraphInput:
        names.inputs.emplace_back(graph::text_in(field->bytes, kValueName));
        break;
      case kGraphOutput:
        names.outputs.emplace_back(graph::text_in(field->bytes, kValueName));
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
