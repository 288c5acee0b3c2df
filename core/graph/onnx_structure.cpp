#include "core/graph/onnx_structure.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/graph/onnx_builder.h"
#include "core/graph/onnx_schema.h"
#include "core/graph/protobuf.h"
#include "core/text/git_lfs.h"

namespace latebind::graph {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// The messages that may contain a tensor, and how each leads to the next.
enum class Message { kNone, kModel, kGraph, kNode, kAttribute, kTraining, kFunction, kSparseTensor, kTensor };

Message message_in(Message outer, std::uint32_t field) {
  switch (outer) {
    case Message::kModel:
      if (field == ModelProto::kGraph) return Message::kGraph;
      if (field == ModelProto::kTrainingInfo) return Message::kTraining;
      return field == ModelProto::kFunctions ? Message::kFunction : Message::kNone;
    case Message::kGraph:
      if (field == GraphProto::kNode) return Message::kNode;
      if (field == GraphProto::kInitializer) return Message::kTensor;
      return field == GraphProto::kSparseInitializer ? Message::kSparseTensor : Message::kNone;
    case Message::kNode:
      return field == NodeProto::kAttribute ? Message::kAttribute : Message::kNone;
    case Message::kAttribute:
      switch (field) {
        case AttributeProto::kTensor:
        case AttributeProto::kTensors:
          return Message::kTensor;
        case AttributeProto::kGraph:
        case AttributeProto::kGraphs:
          return Message::kGraph;
        case AttributeProto::kSparseTensor:
        case AttributeProto::kSparseTensors:
          return Message::kSparseTensor;
        default:
          return Message::kNone;
      }
    case Message::kTraining:
      return field == TrainingInfoProto::kInitialization || field == TrainingInfoProto::kAlgorithm ? Message::kGraph
                                                                                                   : Message::kNone;
    case Message::kFunction:
      if (field == FunctionProto::kNode) return Message::kNode;
      return field == FunctionProto::kAttributeProto ? Message::kAttribute : Message::kNone;
    case Message::kSparseTensor:
      return field == SparseTensorProto::kValues || field == SparseTensorProto::kIndices ? Message::kTensor
                                                                                         : Message::kNone;
    case Message::kTensor:
    case Message::kNone:
      break;
  }
  return Message::kNone;
}

constexpr unsigned kDepthMax = 100;  // as protobuf's readers

// Reads the value of a StringStringEntryProto whose key is "location". Returns false when the entry is damaged.
bool take_location(std::span<const std::byte> entry, ExternalLocations& found) {
  const auto [key, value, damaged] = text_entry_of(entry);
  if (key == "location" && found.names.size() < kExternalLocationsMax) {
    found.names.emplace(value);
  } else if (key == "location" && !found.names.contains(std::string(value))) {
    found.complete = false;
  }
  return !damaged;
}

// False when not all of it can be read. NOLINTNEXTLINE(misc-no-recursion): bounded by kDepthMax
bool gather(std::span<const std::byte> bytes, Message message, unsigned depth, ExternalLocations& found) {
  if (depth > kDepthMax) return false;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (message == Message::kTensor && field->number == TensorProto::kDataLocation && field->value != 0)
      found.any = true;
    if (field->kind != ProtobufKind::kBytes) continue;
    if (message == Message::kTensor && field->number == TensorProto::kExternalData) {
      found.any = true;
      if (!take_location(field->bytes, found)) return false;
    }
    const Message inner = message_in(message, field->number);
    if (inner != Message::kNone && !gather(field->bytes, inner, depth + 1, found)) return false;
  }
  return !fields.damaged();
}

// The error for a model that is damaged anywhere.
Status damaged_model() {
  return {StatusCode::kInvalidModel, "the ONNX model is damaged, or nested too deeply"};
}

// Returns a tensor with its data in another place; std::nullopt if the tensor contains its data.
Result<std::optional<std::string>> moved_tensor(std::span<const std::byte> bytes, const NewPlace& place_of) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ExternalPlace place;
  std::string rest;
  std::size_t taken = 0;
  bool is_external = false;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number != TensorProto::kExternalData || field->kind != ProtobufKind::kBytes) continue;
    if (!place.take(field->bytes)) return damaged_model();
    is_external = true;
    rest += text.substr(taken, fields.offset() - taken);
    taken = static_cast<std::size_t>(field->bytes.data() - bytes.data()) + field->bytes.size();
  }
  if (fields.damaged()) return damaged_model();
  if (!is_external) return std::optional<std::string>();
  LB_ASSIGN_OR_RETURN(place, place_of(std::move(place)));
  ProtobufMessage entries;
  add_external_place(entries, place);
  return std::optional(rest + std::string(text.substr(taken)) + entries.bytes());
}

// Returns the message with its tensors' data in other places; std::nullopt if it is unchanged.
// NOLINTNEXTLINE(misc-no-recursion): bounded by kDepthMax
Result<std::optional<std::string>> moved(std::span<const std::byte> bytes, Message message, unsigned depth,
                                         const NewPlace& place_of) {
  if (depth > kDepthMax) return damaged_model();
  if (message == Message::kTensor) return moved_tensor(bytes, place_of);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::optional<std::string> made;
  std::size_t taken = 0;  // of the text, already copied to what is made
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    const Message inner = message_in(message, field->number);
    if (field->kind != ProtobufKind::kBytes || inner == Message::kNone) continue;
    const std::size_t begin = fields.offset();
    LB_ASSIGN_OR_RETURN(const auto changed, moved(field->bytes, inner, depth + 1, place_of));
    if (!changed) continue;
    ProtobufMessage head;
    head.add_head(field->number, changed->size());
    if (!made) made.emplace();
    *made += text.substr(taken, begin - taken);
    *made += head.bytes() + *changed;
    taken = static_cast<std::size_t>(field->bytes.data() - bytes.data()) + field->bytes.size();
  }
  if (fields.damaged()) return damaged_model();
  if (made) *made += text.substr(taken);
  return made;
}

}  // namespace

bool ExternalPlace::take(std::span<const std::byte> entry) {
  const auto [key, value, damaged] = text_entry_of(entry);
  if (key == "location") location = value;
  if (key != "offset" && key != "length") return !damaged;
  std::uint64_t& number = key == "offset" ? offset : length;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() && !damaged;
}

std::optional<std::span<const std::byte>> ExternalPlace::data_in(std::span<const std::byte> file) const {
  if (offset > file.size()) return std::nullopt;
  const auto rest = file.subspan(static_cast<std::size_t>(offset));
  if (length == kToTheEnd) return rest;
  return length > rest.size() ? std::nullopt : std::optional(rest.first(static_cast<std::size_t>(length)));
}

Result<std::string> with_external_places(std::span<const std::byte> bytes, const NewPlace& place_of) {
  LB_ASSIGN_OR_RETURN(auto made, moved(bytes, Message::kModel, 0, place_of));
  if (made) return *std::move(made);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Status check_onnx_structure(std::span<const std::byte> bytes) {
  bool has_graph = false;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next())
    has_graph = has_graph || (field->number == ModelProto::kGraph && field->kind == ProtobufKind::kBytes);
  if (fields.damaged()) {
    if (core::is_git_lfs_pointer({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
      return Status(StatusCode::kInvalidModel, std::string(core::kGitLfsPointer));
    return Status(StatusCode::kInvalidModel, fmt::format("damaged ONNX model, at byte {}: {}; get the file again",
                                                         fields.offset(), fields.what_is_wrong()));
  }
  return has_graph ? Status() : Status(StatusCode::kInvalidModel, "damaged ONNX model: it has no graph");
}

ExternalLocations external_data_locations(std::span<const std::byte> bytes) {
  ExternalLocations found;
  found.complete = gather(bytes, Message::kModel, 0, found) && found.complete;
  return found;
}

InitializerData initializer_data(std::span<const std::byte> bytes) {
  InitializerData found;
  ProtobufFields model(bytes);
  while (const auto part = model.next()) {
    if (part->number != ModelProto::kGraph || part->kind != ProtobufKind::kBytes) continue;
    ProtobufFields graph(part->bytes);
    while (const auto tensor = graph.next()) {
      if (tensor->number != GraphProto::kInitializer || tensor->kind != ProtobufKind::kBytes) continue;
      std::string_view name;
      std::optional<std::span<const std::byte>> data;
      ProtobufFields fields(tensor->bytes);
      while (const auto field = fields.next()) {
        if (field->kind != ProtobufKind::kBytes) continue;
        if (field->number == TensorProto::kName) name = field->text();
        if (field->number == TensorProto::kRawData) data = field->bytes;
      }
      if (data && !fields.damaged()) found.emplace(name, *data);
    }
  }
  return found;
}

bool may_name_external_data(std::span<const std::byte> bytes) {
  const ExternalLocations found = external_data_locations(bytes);
  return found.any || !found.complete;
}

}  // namespace latebind::graph
