#include "core/onnx_structure.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace latebind::core {
namespace {

// Protobuf's kinds of fields.
constexpr std::uint64_t kVarint = 0;
constexpr std::uint64_t kFixed64 = 1;
constexpr std::uint64_t kLengthDelimited = 2;
constexpr std::uint64_t kFixed32 = 5;

constexpr std::uint64_t kGraphField = 7;

std::optional<std::uint64_t> read_varint(std::span<const std::byte> bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[at++]);
    value |= (byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

class Walk {
 public:
  explicit Walk(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Status to_the_end() {
    bool has_graph = false;
    while (at_ < bytes_.size()) {
      const std::size_t start = at_;
      const auto tag = varint();
      if (!tag || *tag >> 3U == 0) return damaged(start, "no field begins here");
      const std::uint64_t field = *tag >> 3U;
      const std::uint64_t kind = *tag & 7U;
      std::optional<std::uint64_t> size;
      if (kind == kVarint) {
        if (varint()) size = 0;
      } else if (kind == kFixed64) {
        size = 8;
      } else if (kind == kFixed32) {
        size = 4;
      } else if (kind == kLengthDelimited) {
        size = varint();
      } else {
        return damaged(start, "no field begins here");
      }
      const std::size_t left = bytes_.size() - at_;
      if (!size) return damaged(start, fmt::format("field {} has no end", field));
      if (*size > left) {
        return damaged(start,
                       fmt::format("field {} has {} bytes, but the file ends after {} of them", field, *size, left));
      }
      at_ += static_cast<std::size_t>(*size);
      has_graph = has_graph || (field == kGraphField && kind == kLengthDelimited);
    }
    if (!has_graph) return Status(StatusCode::kInvalidModel, "damaged ONNX model: it has no graph");
    return {};
  }

 private:
  static Status damaged(std::size_t byte, std::string_view what) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("damaged ONNX model, at byte {}: {}; get the file again", byte, what));
  }

  std::optional<std::uint64_t> varint() { return read_varint(bytes_, at_); }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

// The messages in which a tensor may be, and how each leads to the next.
enum class Message { kNone, kModel, kGraph, kNode, kAttribute, kTraining, kFunction, kSparseTensor, kTensor };

Message message_in(Message outer, std::uint64_t field) {
  switch (outer) {
    case Message::kModel:
      if (field == 7) return Message::kGraph;
      if (field == 20) return Message::kTraining;
      return field == 25 ? Message::kFunction : Message::kNone;
    case Message::kGraph:
      if (field == 1) return Message::kNode;
      if (field == 5) return Message::kTensor;
      return field == 15 ? Message::kSparseTensor : Message::kNone;
    case Message::kNode:
      return field == 5 ? Message::kAttribute : Message::kNone;
    case Message::kAttribute:
      if (field == 5 || field == 10) return Message::kTensor;
      if (field == 6 || field == 11) return Message::kGraph;
      return field == 22 || field == 23 ? Message::kSparseTensor : Message::kNone;
    case Message::kTraining:
      return field == 1 || field == 2 ? Message::kGraph : Message::kNone;
    case Message::kFunction:
      if (field == 7) return Message::kNode;
      return field == 11 ? Message::kAttribute : Message::kNone;
    case Message::kSparseTensor:
      return field == 1 || field == 2 ? Message::kTensor : Message::kNone;
    case Message::kTensor:
    case Message::kNone:
      break;
  }
  return Message::kNone;
}

constexpr std::uint64_t kExternalDataField = 13;
constexpr std::uint64_t kDataLocationField = 14;
constexpr unsigned kDepthMax = 32;

using Locations = std::set<std::string>;

// The value of a StringStringEntryProto whose key is "location"; empty for any other.
std::string location_in(std::span<const std::byte> entry) {
  std::string key;
  std::string value;
  for (std::size_t at = 0; at < entry.size();) {
    const auto tag = read_varint(entry, at);
    if (!tag || (*tag & 7U) != kLengthDelimited) return {};
    const auto size = read_varint(entry, at);
    if (!size || *size > entry.size() - at) return {};
    const std::string text(reinterpret_cast<const char*>(entry.data()) + at, static_cast<std::size_t>(*size));
    if (*tag >> 3U == 1) key = text;
    if (*tag >> 3U == 2) value = text;
    at += static_cast<std::size_t>(*size);
  }
  return key == "location" ? value : std::string();
}

// With `locations` it gathers the names and goes on; without, the first tensor that has one is the answer.
// NOLINTNEXTLINE(misc-no-recursion): bounded by kDepthMax
bool names_external_data(std::span<const std::byte> bytes, Message message, unsigned depth, Locations* locations) {
  if (depth > kDepthMax) return true;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto tag = read_varint(bytes, at);
    if (!tag) return true;
    const std::uint64_t field = *tag >> 3U;
    std::uint64_t size = 0;
    switch (*tag & 7U) {
      case kVarint: {
        const auto value = read_varint(bytes, at);
        if (!value) return true;
        const bool elsewhere = message == Message::kTensor && field == kDataLocationField && *value != 0;
        if (elsewhere && locations == nullptr) return true;
        break;
      }
      case kFixed64:
        size = 8;
        break;
      case kFixed32:
        size = 4;
        break;
      case kLengthDelimited: {
        const auto length = read_varint(bytes, at);
        if (!length) return true;
        size = *length;
        break;
      }
      default:
        return true;
    }
    if (size > bytes.size() - at) return true;
    if ((*tag & 7U) == kLengthDelimited) {
      const auto content = bytes.subspan(at, static_cast<std::size_t>(size));
      if (message == Message::kTensor && field == kExternalDataField) {
        if (locations == nullptr) return true;
        std::string location = location_in(content);
        if (!location.empty() && locations->size() < kExternalLocationsMax) locations->insert(std::move(location));
      }
      const Message inner = message_in(message, field);
      if (inner != Message::kNone && names_external_data(content, inner, depth + 1, locations)) return true;
    }
    at += static_cast<std::size_t>(size);
  }
  return false;
}

}  // namespace

Status check_onnx_structure(std::span<const std::byte> bytes) {
  return Walk(bytes).to_the_end();
}

bool may_name_external_data(std::span<const std::byte> bytes) {
  return names_external_data(bytes, Message::kModel, 0, nullptr);
}

Locations external_data_locations(std::span<const std::byte> bytes) {
  Locations locations;
  names_external_data(bytes, Message::kModel, 0, &locations);
  return locations;
}

}  // namespace latebind::core
