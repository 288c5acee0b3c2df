// Protobuf's wire format, as much of it as ONNX needs: messages are strings of fields.
//
// Source: "Protocol Buffers: Encoding". Not thread-safe; a value type.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace latebind::embedding {

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
  // Tag and length of a field whose `size` bytes the caller writes after this message's bytes.
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

}  // namespace latebind::embedding
