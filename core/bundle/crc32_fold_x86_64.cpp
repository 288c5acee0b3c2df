// Uses the carry-less multiplication of PCLMULQDQ. The idea: bits that are n bits before other bits can be replaced by
// their product with x^n modulo the polynomial, added to those bits. Four lanes of 16 bytes are processed at a time,
// because the instruction takes several cycles but can be started in each. Source of the method and the constants: V.
// Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.
#include <immintrin.h>

#include "core/bundle/crc32_fold.h"

namespace latebind::core {
namespace {

constexpr std::size_t kLane = 16;
constexpr std::size_t kLanes = 4;

// x^n modulo the reflected polynomial, for both halves of a lane: across four lanes, and across one.
constexpr long long kFourLow = 0x154442BD4;   // n = 4 * 128 + 32
constexpr long long kFourHigh = 0x1C6E41596;  // n = 4 * 128 - 32
constexpr long long kOneLow = 0x1751997D0;    // n = 128 + 32
constexpr long long kOneHigh = 0x0CCAA009E;   // n = 128 - 32

__attribute__((target("pclmul,sse4.1"))) __m128i load(const std::byte* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

__attribute__((target("pclmul,sse4.1"))) __m128i moved(__m128i lane, __m128i by, __m128i onto) {
  const __m128i low = _mm_clmulepi64_si128(lane, by, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

__attribute__((target("pclmul,sse4.1"))) std::size_t fold(std::uint32_t sum, std::span<const std::byte> bytes,
                                                          std::span<std::byte, 16> folded) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  const __m128i by_four = _mm_set_epi64x(kFourHigh, kFourLow);
  const __m128i by_one = _mm_set_epi64x(kOneHigh, kOneLow);
  // NOLINTNEXTLINE(*-avoid-c-arrays): std::array drops the attributes of the type
  __m128i lanes[kLanes] = {load(at), load(at + kLane), load(at + 2 * kLane), load(at + 3 * kLane)};
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128(static_cast<int>(sum)));
  at += kLanes * kLane;
  left -= kLanes * kLane;
  for (; left >= kLanes * kLane; at += kLanes * kLane, left -= kLanes * kLane) {
    for (std::size_t i = 0; i < kLanes; ++i)
      lanes[i] = moved(lanes[i], by_four, load(at + i * kLane));
  }
  __m128i all = lanes[0];
  for (std::size_t i = 1; i < kLanes; ++i)
    all = moved(all, by_one, lanes[i]);
  for (; left >= kLane; at += kLane, left -= kLane)
    all = moved(all, by_one, load(at));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(folded.data()), all);
  return bytes.size() - left;
}

}  // namespace

std::size_t crc32_fold(std::uint32_t sum, std::span<const std::byte> bytes, std::span<std::byte, 16> folded) {
  static const bool has_it = __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  if (!has_it || bytes.size() < kLanes * kLane) return 0;
  return fold(sum, bytes, folded);
}

}  // namespace latebind::core
