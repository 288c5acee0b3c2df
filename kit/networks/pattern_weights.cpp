#include "kit/networks/pattern_weights.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <utility>

namespace latebind::kit {

graph::Weight PatternWeights::add(std::string name, core::ElementType type, const core::Shape& shape) {
  graph::Weight weight{.name = std::move(name), .type = type, .shape = shape, .offset = bytes_.size()};
  const std::size_t count = *shape.element_count();
  for (std::size_t i = 0; i < count; ++i)
    append(type, static_cast<float>(std::sin(static_cast<double>(++number_) * 1.7)));
  return weight;
}

core::FilePart PatternWeights::part() const {
  core::FilePart part;
  part.where.size = bytes_.size();
  part.bytes = core::SharedBytes::from_string(bytes_);
  return part;
}

void PatternWeights::append(core::ElementType type, float value) {
  // The conversion to f16 below is only right for normal numbers.
  if (std::abs(value) < 0x1p-14F) value = 0x1p-14F;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Between 2⁻¹⁴ and 1, a number in f16 has the upper bits of the number in f32, with another exponent bias.
  const std::uint32_t half = (bits >> 16U & 0x8000U) | (((bits >> 13U & 0x3ffffU) - (112U << 10U)) & 0x7fffU);
  if (type == core::ElementType::kF32) put(bits, 4);
  if (type == core::ElementType::kBF16) put(bits >> 16U, 2);
  if (type == core::ElementType::kF16) put(half, 2);
}

void PatternWeights::put(std::uint32_t bits, unsigned size) {
  for (unsigned shift = 0; shift < size * 8; shift += 8)
    bytes_ += static_cast<char>(bits >> shift & 0xffU);
}

}  // namespace latebind::kit
