#include "backends/onnxruntime/context_model.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace latebind::onnxruntime {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kNamesMax = 8;
constexpr std::size_t kTextMax = 4096;
constexpr std::size_t kMetadataMax = 1024;
constexpr std::string_view kContextOperator = "EPContext";
constexpr std::string_view kCompatibilityPrefix = "ep_compatibility_info.";

// Field numbers of onnx.proto.
constexpr std::uint64_t kModelGraph = 7;
constexpr std::uint64_t kModelMetadata = 14;
constexpr std::uint64_t kGraphNode = 1;
constexpr std::uint64_t kNodeName = 3;
constexpr std::uint64_t kNodeOperator = 4;
constexpr std::uint64_t kNodeAttribute = 5;
constexpr std::uint64_t kAttributeName = 1;
constexpr std::uint64_t kAttributeInteger = 3;
constexpr std::uint64_t kEntryKey = 1;
constexpr std::uint64_t kEntryValue = 2;

// Protobuf's wire format, one message at a time.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;   // of a varint
    std::string_view bytes{};  // of a field with a length
  };

  // Nothing at the end, and when the bytes make no sense: then ok() is false.
  std::optional<Field> next() {
    if (rest_.empty() || !ok_) return std::nullopt;
    const auto key = varint();
    Field field;
    field.number = key >> 3U;
    switch (key & 7U) {
      case 0:
        field.value = varint();
        break;
      case 1:
        (void)take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        (void)take(4);
        break;
      default:
        ok_ = false;
    }
    if (!ok_) return std::nullopt;
    return field;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto bytes = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return bytes;
  }

  std::string_view rest_;
  bool ok_ = true;
};

std::string text_of(std::string_view bytes) {
  return std::string(bytes.substr(0, kTextMax));
}

// False when the attribute says that its context is not in the model. True for every other one.
bool read_attribute(std::string_view bytes, bool& is_embedded) {
  Fields fields(bytes);
  std::string_view name;
  std::uint64_t number = 0;
  while (const auto field = fields.next()) {
    if (field->number == kAttributeName) name = field->bytes;
    if (field->number == kAttributeInteger) number = field->value;
  }
  if (name == "embed_mode" && number == 0) is_embedded = false;
  return fields.ok();
}

bool read_node(std::string_view bytes, ContextModel& model) {
  Fields fields(bytes);
  std::string_view name;
  std::string_view type;
  bool is_embedded = true;
  while (const auto field = fields.next()) {
    if (field->number == kNodeName) name = field->bytes;
    if (field->number == kNodeOperator) type = field->bytes;
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
  return fields.ok();
}

bool read_graph(std::string_view bytes, ContextModel& model) {
  Fields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == kGraphNode && !read_node(field->bytes, model)) return false;
  }
  return fields.ok();
}

bool read_metadata(std::string_view bytes, ContextModel& model) {
  Fields fields(bytes);
  std::string key;
  std::string value;
  while (const auto field = fields.next()) {
    if (field->number == kEntryKey) key = text_of(field->bytes);
    if (field->number == kEntryValue) value = text_of(field->bytes);
  }
  if (model.metadata.size() < kMetadataMax) model.metadata[std::move(key)] = std::move(value);
  return fields.ok();
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
  Fields fields({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  while (const auto field = good ? fields.next() : std::nullopt) {
    if (field->number == kModelGraph) {
      has_graph = true;
      good = read_graph(field->bytes, model);
    }
    if (field->number == kModelMetadata) good = read_metadata(field->bytes, model);
  }
  if (!good || !fields.ok() || !has_graph) {
    return Status(StatusCode::kInvalidModel, "this is no compiled model: it is no ONNX model, or a damaged one");
  }
  return model;
}

}  // namespace latebind::onnxruntime
