#include "embedding/weights/gguf/values.h"

#include <array>

namespace latebind::embedding {
namespace {

constexpr std::array<std::size_t, 13> kValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

}  // namespace

GgufValue gguf_scalar_at(GgufValueType type, const std::byte* at) {
  const auto whole = [](std::int64_t value) {
    return value < 0 ? GgufValue(value) : GgufValue(static_cast<std::uint64_t>(value));
  };
  switch (type) {
    case GgufValueType::kU8:
      return std::uint64_t{gguf_number_at<std::uint8_t>(at)};
    case GgufValueType::kI8:
      return whole(gguf_number_at<std::int8_t>(at));
    case GgufValueType::kU16:
      return std::uint64_t{gguf_number_at<std::uint16_t>(at)};
    case GgufValueType::kI16:
      return whole(gguf_number_at<std::int16_t>(at));
    case GgufValueType::kU32:
      return std::uint64_t{gguf_number_at<std::uint32_t>(at)};
    case GgufValueType::kI32:
      return whole(gguf_number_at<std::int32_t>(at));
    case GgufValueType::kF32:
      return double{gguf_number_at<float>(at)};
    case GgufValueType::kBool:
      return gguf_number_at<std::uint8_t>(at) != 0;
    case GgufValueType::kU64:
      return gguf_number_at<std::uint64_t>(at);
    case GgufValueType::kI64:
      return whole(gguf_number_at<std::int64_t>(at));
    default:
      return gguf_number_at<double>(at);
  }
}

bool is_gguf_value_type(std::uint32_t number) {
  return number < kValueBytes.size();
}

std::size_t bytes_of_gguf_value(GgufValueType type) {
  return kValueBytes[static_cast<std::size_t>(type)];
}

}  // namespace latebind::embedding
