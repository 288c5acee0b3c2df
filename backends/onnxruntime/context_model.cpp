#include "backends/onnxruntime/context_model.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/graph/protobuf.h"

namespace latebind::onnxruntime {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using graph::ProtobufFields;

constexpr std::size_t kNamesMax = 8;
constexpr std::size_t kTextMax = 4096;
constexpr std::size_t kMetadataMax = 1024;
constexpr std::string_view kContextOperator = "EPContext";
constexpr std::string_view kCompatibilityPrefix = "ep_compatibility_info.";

// Field numbers of onnx.proto.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kModelMetadata = 14;
constexpr std::uint32_t kGraphNode = 1;
constexpr std::uint32_t kNodeName = 3;
constexpr std::uint32_t kNodeOperator = 4;
constexpr std::uint32_t kNodeAttribute = 5;
constexpr std::uint32_t kAttributeName = 1;
constexpr std::uint32_t kAttributeInteger = 3;
constexpr std::uint32_t kEntryKey = 1;
constexpr std::uint32_t kEntryValue = 2;

std::string text_of(std::string_view bytes) {
  return std::string(bytes.substr(0, kTextMax));
}

// False when the attribute says that its context is not in the model. True for every other one.
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

bool read_node(std::span<const std::byte> bytes, ContextModel& model) {
  ProtobufFields fields(bytes);
  std::string_view name;
  std::string_view type;
  bool is_embedded = true;
  while (const auto field = fields.next()) {
    if (field->number == kNodeName) name = field->text();
    if (field->number == kNodeOperator) type = field->text();
    if (field->number == kNodeAttribute && !read_attribute(field->bytes, is_embedded)) return false;
  }
  if (type == kContextOperator) {
    ++model.contexts;
    model.embedded = model.embedded && is_embedded;
  } else {
    ++model.others;
    if (model.other_names.size() < kNamesMax) {
      model.other_names.push_back(fmt::format("{} ({})", text_of(type), text_of(name)));
    }
  }
  return !fields.damaged();
}

bool read_graph(std::span<const std::byte> bytes, ContextModel& model) {
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == kGraphNode && !read_node(field->bytes, model)) return false;
  }
  return !fields.damaged();
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
    return Status(StatusCode::kInvalidModel, "this is no compiled model: it is no ONNX model, or a damaged one");
  }
  return model;
}

}  // namespace latebind::onnxruntime
