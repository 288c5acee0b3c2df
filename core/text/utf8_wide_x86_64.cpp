// Checks 32 bytes at a time with the 16-entry tables of AVX2. The idea: for every two neighbouring bytes, three half
// bytes are looked up, both halves of the first byte and the upper half of the second. Each table gives the errors that
// are still possible, one per bit; an error that all three agree on is real. Only the positions of third and fourth
// bytes need more than two bytes. Source: J. Keiser and D. Lemire, "Validating UTF-8 In Less Than One Instruction Per
// Byte", 2021.
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "core/text/utf8.h"
#include "core/text/utf8_wide.h"

namespace latebind::core {
namespace {

constexpr std::size_t kLane = 32;

enum Fault : unsigned {
  kNoContinuation = 1U << 0,  // after a lead
  kNoLead = 1U << 1,          // before a continuation
  kOverlongOfTwo = 1U << 2,
  kOverlongOfThree = 1U << 3,
  kOverlongOfFour = 1U << 4,  // or a lead of F5 or above, followed by 80 to 8F
  kSurrogate = 1U << 5,
  kTooLarge = 1U << 6,
  kContinuations = 1U << 7,  // two of them; not an error if a third or fourth byte is expected
};

using Table = std::array<unsigned char, kLane>;  // 16 entries, twice

template <class FaultsOf>
constexpr Table made_table(FaultsOf faults_of) {
  Table table{};
  for (unsigned i = 0; i < table.size(); ++i)
    table[i] = static_cast<unsigned char>(faults_of(i % 16));
  return table;
}

constexpr Table kUpperOfFirst = made_table([](unsigned half) -> unsigned {
  if (half < 0x8) return kNoLead;
  if (half < 0xC) return kContinuations;
  switch (half) {
    case 0xC:
      return kNoContinuation | kOverlongOfTwo;
    case 0xD:
      return kNoContinuation;
    case 0xE:
      return kNoContinuation | kOverlongOfThree | kSurrogate;
    default:
      return kNoContinuation | kOverlongOfFour | kTooLarge;
  }
});
constexpr Table kLowerOfFirst = made_table([](unsigned half) -> unsigned {
  unsigned faults = kNoContinuation | kNoLead | kContinuations;
  if (half < 0x2) faults |= kOverlongOfTwo;                       // C0 and C1
  if (half == 0x0) faults |= kOverlongOfThree | kOverlongOfFour;  // E0 and F0
  if (half == 0xD) faults |= kSurrogate;                          // ED
  if (half >= 0x4) faults |= kTooLarge;                           // F4 and invalid leads
  if (half >= 0x5) faults |= kOverlongOfFour;
  return faults;
});
constexpr Table kUpperOfSecond = made_table([](unsigned half) -> unsigned {
  if (half < 0x8 || half >= 0xC) return kNoContinuation;
  unsigned faults = kNoLead | kOverlongOfTwo | kContinuations;
  faults |= half < 0xA ? kOverlongOfThree : kSurrogate;
  faults |= half == 0x8 ? kOverlongOfFour : kTooLarge;
  return faults;
});

#define LB_AVX2 __attribute__((target("avx2")))

LB_AVX2 __m256i load(const void* at) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

// Returns the lane with its bytes moved up by this many places; the last bytes of the lane before it fill the front.
template <int kPlaces>
LB_AVX2 __m256i delayed(__m256i lane, __m256i before) {
  return _mm256_alignr_epi8(lane, _mm256_permute2x128_si256(before, lane, 0x21), 16 - kPlaces);
}

LB_AVX2 __m256i upper_halves(__m256i bytes) {
  return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
}

// The highest bit of a byte is set if the byte is at least `least`.
LB_AVX2 __m256i at_least(__m256i bytes, int least) {
  return _mm256_subs_epu8(bytes, _mm256_set1_epi8(static_cast<char>(least - 0x80)));
}

// Nonzero in each byte that ends an error.
LB_AVX2 __m256i faults_in(__m256i lane, __m256i before) {
  const __m256i first = delayed<1>(lane, before);
  const __m256i agreed = _mm256_and_si256(
      _mm256_and_si256(
          _mm256_shuffle_epi8(load(kUpperOfFirst.data()), upper_halves(first)),
          _mm256_shuffle_epi8(load(kLowerOfFirst.data()), _mm256_and_si256(first, _mm256_set1_epi8(0x0F)))),
      _mm256_shuffle_epi8(load(kUpperOfSecond.data()), upper_halves(lane)));
  const __m256i due = _mm256_and_si256(
      _mm256_or_si256(at_least(delayed<2>(lane, before), 0xE0), at_least(delayed<3>(lane, before), 0xF0)),
      _mm256_set1_epi8(static_cast<char>(0x80)));
  return _mm256_xor_si256(due, agreed);
}

// Returns the number of bytes before the first lane with an error, or before the last incomplete lane.
LB_AVX2 std::size_t good_lanes(std::string_view text) {
  __m256i before = _mm256_setzero_si256();
  std::size_t at = 0;
  bool is_between = true;  // the previous lane ends with a complete character
  for (; text.size() - at >= kLane; at += kLane) {
    const __m256i lane = load(text.data() + at);
    const auto beyond_ascii = static_cast<unsigned>(_mm256_movemask_epi8(lane));
    if (beyond_ascii != 0 || !is_between) {
      const __m256i faults = faults_in(lane, before);
      if (_mm256_testz_si256(faults, faults) == 0) return at;
    }
    is_between = beyond_ascii >> 29U == 0;  // its last three bytes are ASCII
    before = lane;
  }
  return at;
}

#undef LB_AVX2

}  // namespace

std::size_t utf8_wide_prefix(std::string_view text) {
  static const bool has_it = __builtin_cpu_supports("avx2") != 0;
  if (!has_it || text.size() < 2 * kLane) return 0;
  std::size_t good = good_lanes(text);
  // The last character may continue after the prefix.
  for (int i = 0; i < 3 && good > 0 && is_utf8_continuation(text[good - 1]); ++i)
    --good;
  if (good > 0 && static_cast<unsigned char>(text[good - 1]) >= 0xC0) --good;
  return good;
}

}  // namespace latebind::core
