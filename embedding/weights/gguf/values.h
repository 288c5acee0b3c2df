// The values of GGUF's metadata. Pure functions; any thread may call them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace latebind::embedding {

// The types of values in metadata, by their numbers in files.
enum class GgufValueType : std::uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// An array, whose elements are read by GgufHeader's functions. Arrays of arrays are refused.
struct GgufArray {
  GgufValueType type = GgufValueType::kU8;
  std::size_t count = 0;
  std::span<const std::byte> bytes{};  // for texts, each is its length in 64 bits and its bytes
};

// Integers of all sizes are std::uint64_t or std::int64_t; floating-point numbers of both sizes are double.
using GgufValue = std::variant<std::uint64_t, std::int64_t, double, bool, std::string_view, GgufArray>;

[[nodiscard]] inline std::string_view gguf_text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
// Reads a little-endian number.
template <class Number>
[[nodiscard]] inline Number gguf_number_at(const std::byte* at) {
  std::uint64_t bits = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    bits = bits << 8U | std::to_integer<std::uint64_t>(at[i]);
  if constexpr (sizeof(Number) == 8) return std::bit_cast<Number>(bits);
  if constexpr (sizeof(Number) == 4) return std::bit_cast<Number>(static_cast<std::uint32_t>(bits));
  if constexpr (sizeof(Number) == 2) return std::bit_cast<Number>(static_cast<std::uint16_t>(bits));
  if constexpr (sizeof(Number) == 1) return std::bit_cast<Number>(static_cast<std::uint8_t>(bits));
}

// Reads a value of a type with a fixed length.
[[nodiscard]] GgufValue gguf_scalar_at(GgufValueType type, const std::byte* at);
[[nodiscard]] bool is_gguf_value_type(std::uint32_t number);
// Returns 0 for types with a variable length.
[[nodiscard]] std::size_t bytes_of_gguf_value(GgufValueType type);

}  // namespace latebind::embedding
