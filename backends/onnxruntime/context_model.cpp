#include "backends/onnxruntime/context_model.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "core/graph/onnx_reader.h"
#include "core/graph/onnx_schema.h"
#include "core/graph/protobuf.h"

namespace latebind::onnxruntime {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using graph::ProtobufFields;

constexpr std::size_t kTextMax = 4096;
// Limit for the operator and the name of a node.
constexpr std::size_t kNodeTextMax = 256;
constexpr std::size_t kMetadataMax = 1024;
constexpr std::string_view kContextOperator = "EPContext";
constexpr std::string_view kCompatibilityPrefix = "ep_compatibility_info.";

std::string text_of(std::string_view bytes, std::size_t size_max = kTextMax) {
  return std::string(bytes.substr(0, size_max));
}

// The nodes that are kept, by their outputs: the shapes follow all nodes.
using ByOutput = std::multimap<std::string_view, std::size_t>;

// Returns false if the attribute says that its context is outside the model.
bool read_attribute(std::span<const std::byte> bytes, bool& is_embedded) {
  ProtobufFields fields(bytes);
  std::string_view name;
  std::uint64_t value = 0;
  while (const auto field = fields.next()) {
    if (field->number == graph::AttributeProto::kName) name = field->text();
    if (field->number == graph::AttributeProto::kInt) value = field->value;
  }
  if (name == "embed_mode" && value == 0) is_embedded = false;
  return !fields.damaged();
}

bool read_node(std::span<const std::byte> bytes, ContextModel& model, ByOutput& by_output) {
  ProtobufFields fields(bytes);
  std::string_view name;
  std::string_view type;
  std::optional<std::string_view> output;
  bool is_embedded = true;
  while (const auto field = fields.next()) {
    if (field->number == graph::NodeProto::kName) name = field->text();
    if (field->number == graph::NodeProto::kOpType) type = field->text();
    if (field->number == graph::NodeProto::kOutput && !output) output = field->text();
    if (field->number == graph::NodeProto::kAttribute && !read_attribute(field->bytes, is_embedded)) return false;
  }
  if (type == kContextOperator) {
    ++model.contexts;
    model.embedded = model.embedded && is_embedded;
  } else {
    ++model.others.count;
    if (model.others.first.size() < core::LeftNodes::kFirstMax) {
      if (output) by_output.emplace(*output, model.others.first.size());
      model.others.first.push_back({text_of(type, kNodeTextMax), text_of(name, kNodeTextMax), {}});
    }
  }
  return !fields.damaged();
}

// A shape such as "f32 [2,?]"; empty for values without a shape.
std::string read_shape(std::span<const std::byte> value_info) {
  const auto declared = graph::read_value_info(value_info);
  if (!declared || !declared->has_shape) return {};
  std::string text = declared->type ? fmt::format("{} [", core::name_of(*declared->type)) : "[";
  for (const std::int64_t size : declared->shape)
    text += (text.back() == '[' ? "" : ",") + (size < 0 ? "?" : fmt::to_string(size));
  return text + ']';
}

bool read_graph(std::span<const std::byte> bytes, ContextModel& model) {
  ByOutput by_output;
  ProtobufFields nodes(bytes);
  while (const auto field = nodes.next()) {
    if (field->number == graph::GraphProto::kNode && !read_node(field->bytes, model, by_output)) return false;
  }
  if (nodes.damaged() || by_output.empty()) return !nodes.damaged();
  ProtobufFields values(bytes);
  while (const auto field = values.next()) {
    if (field->number != graph::GraphProto::kValueInfo && field->number != graph::GraphProto::kOutput) continue;
    const auto [begin, end] = by_output.equal_range(graph::text_in(field->bytes, graph::ValueInfoProto::kName));
    for (auto node = begin; node != end; ++node)
      model.others.first[node->second].shape = read_shape(field->bytes);
  }
  return true;
}

bool read_metadata(std::span<const std::byte> bytes, ContextModel& model) {
  const auto [key, value, damaged] = graph::text_entry_of(bytes);
  if (model.metadata.size() < kMetadataMax) model.metadata[text_of(key)] = text_of(value);
  return !damaged;
}

}  // namespace

std::string ContextModel::compatibility(const std::string& provider) const {
  const auto found = metadata.find(std::string(kCompatibilityPrefix) + provider);
  return found == metadata.end() ? std::string() : found->second;
}

Result<ContextModel> read_context_model(std::span<const std::byte> bytes) {
  ContextModel model;
  bool has_graph = false;
  bool good = true;
  ProtobufFields fields(bytes);
  while (const auto field = good ? fields.next() : std::nullopt) {
    if (field->number == graph::ModelProto::kGraph) {
      has_graph = true;
      good = read_graph(field->bytes, model);
    }
    if (field->number == graph::ModelProto::kMetadataProps) good = read_metadata(field->bytes, model);
  }
  if (!good || fields.damaged() || !has_graph) {
    return Status(StatusCode::kInvalidModel, "this is not a compiled model: it is not an ONNX model, or is damaged");
  }
  return model;
}

}  // namespace latebind::onnxruntime
