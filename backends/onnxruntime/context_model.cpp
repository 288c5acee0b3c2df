#include "backends/onnxruntime/context_model.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "core/graph/onnx_types.h"
#include "core/graph/protobuf.h"

namespace latebind::onnxruntime {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using graph::ProtobufFields;
using graph::sub_message;

constexpr std::size_t kTextMax = 4096;
// Limit for the operator and the name of a node.
constexpr std::size_t kNodeTextMax = 256;
constexpr std::size_t kRankMax = 16;
constexpr std::size_t kMetadataMax = 1024;
constexpr std::string_view kContextOperator = "EPContext";
constexpr std::string_view kCompatibilityPrefix = "ep_compatibility_info.";

// Field numbers of onnx.proto.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kModelMetadata = 14;
constexpr std::uint32_t kGraphNode = 1;
constexpr std::uint32_t kGraphOutput = 12;
constexpr std::uint32_t kGraphValue = 13;
constexpr std::uint32_t kNodeOutput = 2;
constexpr std::uint32_t kNodeName = 3;
constexpr std::uint32_t kNodeOperator = 4;
constexpr std::uint32_t kNodeAttribute = 5;
constexpr std::uint32_t kAttributeName = 1;
constexpr std::uint32_t kAttributeInteger = 3;
constexpr std::uint32_t kValueName = 1;
constexpr std::uint32_t kValueType = 2;
constexpr std::uint32_t kTypeTensor = 1;
constexpr std::uint32_t kTensorElement = 1;
constexpr std::uint32_t kTensorShape = 2;
constexpr std::uint32_t kShapeDimension = 1;
constexpr std::uint32_t kDimensionValue = 1;
constexpr std::uint32_t kEntryKey = 1;
constexpr std::uint32_t kEntryValue = 2;

std::string text_of(std::string_view bytes, std::size_t size_max = kTextMax) {
  return std::string(bytes.substr(0, size_max));
}

// The nodes that are kept, by their outputs: the shapes follow all nodes.
using ByOutput = std::multimap<std::string_view, std::size_t>;

// Returns false if the attribute says that its context is outside the model.
bool read_attribute(std::span<const std::byte> bytes, bool& is_embedded) {
  ProtobufFields fields(bytes);
  std::string_view name;
  std::uint64_t number = 0;
  while (const auto field = fields.next()) {
    if (field->number == kAttributeName) name = field->text();
    if (field->number == kAttributeInteger) number = field->value;
  }
  if (name == "embed_mode" && number == 0) is_embedded = false;
  return !fields.damaged();
}

bool read_node(std::span<const std::byte> bytes, ContextModel& model, ByOutput& by_output) {
  ProtobufFields fields(bytes);
  std::string_view name;
  std::string_view type;
  std::optional<std::string_view> output;
  bool is_embedded = true;
  while (const auto field = fields.next()) {
    if (field->number == kNodeName) name = field->text();
    if (field->number == kNodeOperator) type = field->text();
    if (field->number == kNodeOutput && !output) output = field->text();
    if (field->number == kNodeAttribute && !read_attribute(field->bytes, is_embedded)) return false;
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
  ProtobufFields fields(sub_message(sub_message(value_info, kValueType), kTypeTensor));
  std::string text;
  std::optional<std::span<const std::byte>> shape;
  while (const auto field = fields.next()) {
    if (field->number == kTensorShape) shape = field->bytes;
    if (field->number != kTensorElement) continue;
    const auto type = graph::element_type_of_onnx(static_cast<int>(field->value & 0xFFU));
    if (type) text = fmt::format("{} ", core::name_of(*type));
  }
  if (!shape) return {};
  ProtobufFields dims(*shape);
  std::size_t rank = 0;
  text += '[';
  while (const auto dim = dims.next()) {
    if (dim->number != kShapeDimension || ++rank > kRankMax) continue;
    std::string size = "?";
    ProtobufFields parts(dim->bytes);
    while (const auto part = parts.next()) {
      if (part->number == kDimensionValue && part->bytes.empty()) size = std::to_string(part->value);
    }
    text += (rank > 1 ? "," : "") + size;
  }
  return text + ']';
}

bool read_graph(std::span<const std::byte> bytes, ContextModel& model) {
  ByOutput by_output;
  ProtobufFields nodes(bytes);
  while (const auto field = nodes.next()) {
    if (field->number == kGraphNode && !read_node(field->bytes, model, by_output)) return false;
  }
  if (nodes.damaged() || by_output.empty()) return !nodes.damaged();
  ProtobufFields values(bytes);
  while (const auto field = values.next()) {
    if (field->number != kGraphValue && field->number != kGraphOutput) continue;
    const auto [begin, end] = by_output.equal_range(graph::text_in(field->bytes, kValueName));
    for (auto node = begin; node != end; ++node)
      model.others.first[node->second].shape = read_shape(field->bytes);
  }
  return true;
}

bool read_metadata(std::span<const std::byte> bytes, ContextModel& model) {
  ProtobufFields fields(bytes);
  std::string key;
  std::string value;
  while (const auto field = fields.next()) {
    if (field->number == kEntryKey) key = text_of(field->text());
    if (field->number == kEntryValue) value = text_of(field->text());
  }
  if (model.metadata.size() < kMetadataMax) model.metadata[std::move(key)] = std::move(value);
  return !fields.damaged();
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
    if (field->number == kModelGraph) {
      has_graph = true;
      good = read_graph(field->bytes, model);
    }
    if (field->number == kModelMetadata) good = read_metadata(field->bytes, model);
  }
  if (!good || fields.damaged() || !has_graph) {
    return Status(StatusCode::kInvalidModel, "this is not a compiled model: it is not an ONNX model, or is damaged");
  }
  return model;
}

}  // namespace latebind::onnxruntime
