#include "embedding/weights/gguf/types.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/tensor/half.h"

namespace latebind::embedding {
namespace {

unsigned block_byte(const std::byte* block, std::size_t i) {
  return std::to_integer<unsigned>(block[i]);
}

std::uint16_t block_half_bits(const std::byte* at) {
  return static_cast<std::uint16_t>(block_byte(at, 0) | block_byte(at, 1) << 8U);
}

float block_half(const std::byte* at) {
  return core::from_f16(block_half_bits(at));
}

int block_signed(const std::byte* block, std::size_t i) {
  return static_cast<std::int8_t>(block_byte(block, i));
}

void copy_f32_blocks(const std::byte* from, std::size_t count, float* to) {
  std::memcpy(to, from, count * sizeof(float));
}

void widen_f16_blocks(const std::byte* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = block_half(from + 2 * i);
}

void widen_bf16_blocks(const std::byte* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = core::from_bf16(block_half_bits(from + 2 * i));
}

constexpr std::size_t kSmallBlock = 32;

// A block of 32 numbers has a scale d and, in some types, a minimum m; for five-bit numbers, the fifth bits of all
// numbers; and a byte for the low bits of each pair i and i + 16. A number is d · q + m, or, without a minimum,
// d · (q - half).
template <bool has_minimum, bool has_fifth_bits>
void dequantize_small(const std::byte* block, std::size_t count, float* to) {
  constexpr int kHalf = has_fifth_bits ? 16 : 8;
  constexpr std::size_t kScales = has_minimum ? 4 : 2;
  constexpr std::size_t kHead = kScales + (has_fifth_bits ? 4 : 0);
  for (std::size_t i = 0; i < count; ++i, block += kHead + kSmallBlock / 2, to += kSmallBlock) {
    const float d = block_half(block);
    const float m = has_minimum ? block_half(block + 2) : 0.0F;
    for (std::size_t k = 0; k < kSmallBlock; ++k) {
      const bool is_high = k >= kSmallBlock / 2;
      const unsigned pair = block_byte(block, kHead + k % (kSmallBlock / 2));
      unsigned q = is_high ? pair >> 4U : pair & 15U;
      if (has_fifth_bits) q |= (block_byte(block, kScales + k / 8) >> (k % 8) & 1U) << 4U;
      to[k] = has_minimum ? d * static_cast<float>(q) + m : d * static_cast<float>(static_cast<int>(q) - kHalf);
    }
  }
}

void dequantize_q8_0(const std::byte* block, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i, block += 2 + kSmallBlock, to += kSmallBlock) {
    const float d = block_half(block);
    for (std::size_t k = 0; k < kSmallBlock; ++k)
      to[k] = d * static_cast<float>(block_signed(block, 2 + k));
  }
}

// The eight scales and minima of a large block have six bits each, packed in twelve bytes.
struct ScaleAndMinimum {
  unsigned scale;
  unsigned minimum;
};
ScaleAndMinimum scale_of(const std::byte* packed, std::size_t i) {
  if (i < 4) return {block_byte(packed, i) & 63U, block_byte(packed, i + 4) & 63U};
  const unsigned low = block_byte(packed, i + 4);
  return {(low & 15U) | (block_byte(packed, i - 4) >> 6U) << 4U, low >> 4U | (block_byte(packed, i) >> 6U) << 4U};
}

// A block of 256 numbers in eight groups has two f16 factors of the groups' scales and minima; the scales and minima;
// for five-bit numbers, 32 bytes of fifth bits; and 32 bytes for each pair of groups, with the first group in the low
// bits.
template <bool has_fifth_bits>
void dequantize_large(const std::byte* block, std::size_t count, float* to) {
  constexpr std::size_t kScales = 4;
  constexpr std::size_t kFifth = kScales + 12;
  constexpr std::size_t kLow = kFifth + (has_fifth_bits ? 32 : 0);
  constexpr std::size_t kGroup = 32;
  for (std::size_t i = 0; i < count; ++i, block += kLow + kGgufBlockMax / 2) {
    const float d = block_half(block);
    const float d_minimum = block_half(block + 2);
    for (std::size_t group = 0; group < kGgufBlockMax / kGroup; ++group) {
      const auto [scale, minimum] = scale_of(block + kScales, group);
      const float by = d * static_cast<float>(scale);
      const float less = d_minimum * static_cast<float>(minimum);
      for (std::size_t k = 0; k < kGroup; ++k) {
        const unsigned pair = block_byte(block, kLow + group / 2 * kGroup + k);
        unsigned q = group % 2 == 0 ? pair & 15U : pair >> 4U;
        if (has_fifth_bits) q |= (block_byte(block, kFifth + k) >> group & 1U) << 4U;
        *to++ = by * static_cast<float>(q) - less;
      }
    }
  }
}

// A block of 256 numbers in two halves of four groups has the low four bits of all numbers, their high two bits, a
// signed scale for every 16 numbers, and an f16 factor of these scales.
void dequantize_q6_k(const std::byte* block, std::size_t count, float* to) {
  constexpr std::size_t kHigh = 128;
  constexpr std::size_t kScales = kHigh + 64;
  constexpr std::size_t kD = kScales + 16;
  for (std::size_t i = 0; i < count; ++i, block += kD + 2) {
    const float d = block_half(block + kD);
    for (std::size_t k = 0; k < kGgufBlockMax; ++k) {
      const std::size_t half = k / 128;
      const std::size_t group = k / 32 % 4;
      const std::size_t at = k % 32;
      const unsigned low = block_byte(block, half * 64 + group % 2 * 32 + at) >> (group / 2 * 4) & 15U;
      const unsigned high = block_byte(block, kHigh + half * 32 + at) >> (2 * group) & 3U;
      const int q = static_cast<int>(low | high << 4U) - 32;
      *to++ = d * static_cast<float>(block_signed(block, kScales + k / 16)) * static_cast<float>(q);
    }
  }
}

template <bool has_minimum>
void take_small_groups(const std::byte* block, std::size_t groups, core::FourBitGroup* to) {
  constexpr std::size_t kHead = has_minimum ? 4 : 2;
  for (std::size_t i = 0; i < groups; ++i, block += kHead + kSmallBlock / 2, ++to) {
    constexpr float kHalf = 8;
    to->step = block_half(block);
    to->least = has_minimum ? block_half(block + 2) : -kHalf * to->step;
    std::memcpy(to->codes.data(), block + kHead, to->codes.size());
  }
}

void take_q4_k_groups(const std::byte* blocks, std::size_t groups, core::FourBitGroup* to) {
  constexpr std::size_t kScales = 4;
  constexpr std::size_t kLow = kScales + 12;
  constexpr std::size_t kGroups = kGgufBlockMax / core::FourBitGroup::kNumbers;
  for (std::size_t i = 0; i < groups; ++i, ++to) {
    const std::byte* const block = blocks + i / kGroups * (kLow + kGgufBlockMax / 2);
    const auto [scale, minimum] = scale_of(block + kScales, i % kGroups);
    to->step = block_half(block) * static_cast<float>(scale);
    to->least = -block_half(block + 2) * static_cast<float>(minimum);
    const std::byte* const pairs = block + kLow + i % kGroups / 2 * core::FourBitGroup::kNumbers;
    const unsigned shift = i % 2 * 4;
    for (std::size_t k = 0; k < to->codes.size(); ++k) {
      const unsigned first = block_byte(pairs, k) >> shift & 15U;
      const unsigned second = block_byte(pairs, k + to->codes.size()) >> shift & 15U;
      to->codes[k] = static_cast<std::uint8_t>(first | second << 4U);
    }
  }
}

constexpr std::array kGgufTypes{
    GgufType{0, "F32", 1, 4, copy_f32_blocks},
    GgufType{1, "F16", 1, 2, widen_f16_blocks},
    GgufType{2, "Q4_0", 32, 18, dequantize_small<false, false>, take_small_groups<false>},
    GgufType{3, "Q4_1", 32, 20, dequantize_small<true, false>, take_small_groups<true>},
    GgufType{6, "Q5_0", 32, 22, dequantize_small<false, true>},
    GgufType{7, "Q5_1", 32, 24, dequantize_small<true, true>},
    GgufType{8, "Q8_0", 32, 34, dequantize_q8_0},
    GgufType{9, "Q8_1", 32, 36},
    GgufType{10, "Q2_K", 256, 84},
    GgufType{11, "Q3_K", 256, 110},
    GgufType{12, "Q4_K", 256, 144, dequantize_large<false>, take_q4_k_groups},
    GgufType{13, "Q5_K", 256, 176, dequantize_large<true>},
    GgufType{14, "Q6_K", 256, 210, dequantize_q6_k},
    GgufType{15, "Q8_K", 256, 292},
    GgufType{16, "IQ2_XXS", 256, 66},
    GgufType{17, "IQ2_XS", 256, 74},
    GgufType{18, "IQ3_XXS", 256, 98},
    GgufType{19, "IQ1_S", 256, 50},
    GgufType{20, "IQ4_NL", 32, 18},
    GgufType{21, "IQ3_S", 256, 110},
    GgufType{22, "IQ2_S", 256, 82},
    GgufType{23, "IQ4_XS", 256, 136},
    GgufType{24, "I8", 1, 1},
    GgufType{25, "I16", 1, 2},
    GgufType{26, "I32", 1, 4},
    GgufType{27, "I64", 1, 8},
    GgufType{28, "F64", 1, 8},
    GgufType{29, "IQ1_M", 256, 56},
    GgufType{30, "BF16", 1, 2, widen_bf16_blocks},
    GgufType{34, "TQ1_0", 256, 54},
    GgufType{35, "TQ2_0", 256, 66},
    GgufType{39, "MXFP4", 32, 17},
};

}  // namespace

const GgufType* find_gguf_type(std::uint32_t number) {
  const auto* const found = std::ranges::find(kGgufTypes, number, &GgufType::number);
  return found == kGgufTypes.end() ? nullptr : found;
}

std::vector<std::string_view> gguf_types_read() {
  std::vector<std::string_view> names;
  for (const GgufType& type : kGgufTypes) {
    if (type.dequantize != nullptr) names.push_back(type.name);
  }
  return names;
}

}  // namespace latebind::embedding
