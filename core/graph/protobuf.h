// Protobuf's wire format, read and written one message at a time. ONNX files are written in it.
//
// Source: "Protocol Buffers: Encoding". Value types; one thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace latebind::graph {

enum class ProtobufKind : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct ProtobufField {
  std::uint32_t number = 0;
  ProtobufKind kind = ProtobufKind::kVarint;
  std::uint64_t value = 0;             // for a varint
  std::span<const std::byte> bytes{};  // for every other kind: the content, without its length

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// The fields of a message, in order. Every byte is read once and none is copied. A field that protobuf's own readers
// would not accept counts as damaged.
class ProtobufFields {
 public:
  explicit ProtobufFields(std::span<const std::byte> message) : message_(message) {}

  // Returns the next field; std::nullopt after the last one, and from the first damaged one on.
  std::optional<ProtobufField> next();

  [[nodiscard]] bool damaged() const { return !what_is_wrong_.empty(); }
  // The offset of the field that was read last, and what is wrong with it if it is damaged.
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

// Returns the last length-delimited field of this number, as protobuf's readers do; empty if absent.
[[nodiscard]] std::span<const std::byte> sub_message(std::span<const std::byte> message, std::uint32_t number);
[[nodiscard]] std::string_view text_in(std::span<const std::byte> message, std::uint32_t number);

// A message of two texts, such as ONNX's StringStringEntryProto: `key` is field 1, `value` field 2. If the message is
// damaged, the members have what came before the damage.
struct ProtobufTextEntry {
  std::string_view key;
  std::string_view value;
  bool damaged = false;
};
[[nodiscard]] ProtobufTextEntry text_entry_of(std::span<const std::byte> message);

// A message being written: a sequence of fields.
class ProtobufMessage {
 public:
  void add_varint(unsigned field, std::uint64_t value) {
    put_tag(field, 0);
    put_varint(value);
  }
  void add_int(unsigned field, std::int64_t value) { add_varint(field, static_cast<std::uint64_t>(value)); }
  void add_float(unsigned field, float value) {
    put_tag(field, 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes_ += static_cast<char>(bits >> shift & 0xffU);
  }
  void add_bytes(unsigned field, std::string_view bytes) {
    add_head(field, bytes.size());
    bytes_ += bytes;
  }
  void add_message(unsigned field, const ProtobufMessage& message) { add_bytes(field, message.bytes_); }
  // Adds the tag and length of a field whose `size` bytes the caller writes after this message's bytes.
  void add_head(unsigned field, std::uint64_t size) {
    put_tag(field, 2);
    put_varint(size);
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void put_tag(unsigned field, unsigned wire_type) { put_varint(std::uint64_t{field} << 3U | wire_type); }
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U)
      bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace latebind::graph
