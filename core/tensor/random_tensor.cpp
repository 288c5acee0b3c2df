#include "core/tensor/random_tensor.h"

#include <bit>
#include <cstring>
#include <random>

namespace latebind::core {
namespace {

// A multiple of 1/128 from -1 to 1 has at most eight significant bits, so every floating-point type represents it
// exactly.
float small_float(std::uint64_t bits) {
  return (static_cast<float>(bits & 0xFFU) - 128.0F) / 128.0F;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

void fill_random(ElementType type, std::uint64_t seed, std::span<std::byte> bytes, unsigned integer_most) {
  std::mt19937_64 random(seed);
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    const std::uint64_t bits = random() >> 32U;
    const float value = small_float(bits);
    std::byte* const to = bytes.data() + at;
    switch (type) {
      case ElementType::kF64:
        put(to, static_cast<double>(value));
        break;
      case ElementType::kF32:
        put(to, value);
        break;
      case ElementType::kF16:
        put(to, to_f16(value));
        break;
      case ElementType::kBF16:
        put(to, to_bf16(value));
        break;
      default: {
        const bool wide = integer_most > 1 && type != ElementType::kBool;
        // The first byte is the lowest one of any integer, because integers are little-endian.
        std::memset(to, 0, size);
        *to = static_cast<std::byte>(wide ? 1 + bits % integer_most : bits & 1U);
      }
    }
  }
}

}  // namespace latebind::core
