#include "embedding/weights/floats_of.h"

#include <cstdint>
#include <cstring>

#include "core/tensor/half.h"

namespace latebind::embedding {
namespace {

template <class Stored, class Convert>
std::vector<float> numbers_of(std::span<const std::byte> bytes, const Convert& convert) {
  std::vector<float> numbers;
  numbers.reserve(bytes.size() / sizeof(Stored));
  for (std::size_t at = 0; at + sizeof(Stored) <= bytes.size(); at += sizeof(Stored)) {
    Stored stored{};
    std::memcpy(&stored, bytes.data() + at, sizeof(Stored));
    numbers.push_back(convert(stored));
  }
  return numbers;
}

}  // namespace

std::vector<float> floats_of(const StoredTensor& tensor) {
  using core::ElementType;
  if (tensor.type == ElementType::kF32) return numbers_of<float>(tensor.bytes, [](float number) { return number; });
  return numbers_of<std::uint16_t>(tensor.bytes, tensor.type == ElementType::kF16 ? core::from_f16 : core::from_bf16);
}

}  // namespace latebind::embedding
