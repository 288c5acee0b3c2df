#include "core/onnx_structure.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace latebind::core {
namespace {

// Protobuf's kinds of fields.
constexpr std::uint64_t kVarint = 0;
constexpr std::uint64_t kFixed64 = 1;
constexpr std::uint64_t kLengthDelimited = 2;
constexpr std::uint64_t kFixed32 = 5;

constexpr std::uint64_t kGraphField = 7;

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

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

Status check_onnx_structure(std::span<const std::byte> bytes) {
  return Walk(bytes).to_the_end();
}

}  // namespace latebind::core
