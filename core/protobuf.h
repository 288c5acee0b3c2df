// Protobuf's wire format, read one message at a time: what ONNX files are made of.
//
// Source: "Protocol Buffers: Encoding". Reads nothing twice and copies nothing; what has no field that protobuf's own
// readers would take is damaged. Not thread-safe; a value type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace latebind::core {

enum class ProtobufKind : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct ProtobufField {
  std::uint32_t number = 0;
  ProtobufKind kind = ProtobufKind::kVarint;
  std::uint64_t value = 0;             // of a varint
  std::span<const std::byte> bytes{};  // of everything else: what stands in the message, without its length

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

class ProtobufFields {
 public:
  explicit ProtobufFields(std::span<const std::byte> message) : message_(message) {}

  // Nothing after the last field, and from the first on that is damaged.
  std::optional<ProtobufField> next();

  [[nodiscard]] bool damaged() const { return !what_is_wrong_.empty(); }
  // Where the field that was read last begins, and what is wrong with it if it is damaged.
  [[nodiscard]] std::size_t offset() const { return start_; }
  [[nodiscard]] const std::string& what_is_wrong() const { return what_is_wrong_; }

 private:
  std::optional<std::uint64_t> varint();
  std::nullopt_t refuse(std::string what);

  std::span<const std::byte> message_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
  std::string what_is_wrong_;
};

}  // namespace latebind::core
