// Typed configuration values: words from outside are converted to enumerations here, and nowhere else.
//
// An unknown word is an error that lists the known ones and names the nearest.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::core {

template <class E>
struct Word {
  std::string_view text;
  E value;
};

// The table of words of an enumeration: specialise with `static constexpr std::string_view kWhat` (what is being named,
// such as "precision") and `static constexpr std::array kWords`.
template <class E>
struct Words;

// "unknown WHAT 'GIVEN' (did you mean X?); known: A, B, C", or, of more than fit a screen, "; LISTED" says where they
// are.
[[nodiscard]] Status unknown_word_error(std::string_view what, std::string_view given,
                                        std::span<const std::string_view> known, std::string_view listed = {});

template <class E>
[[nodiscard]] Result<E> parse_word(std::string_view given) {
  std::vector<std::string_view> known;
  for (const auto& word : Words<E>::kWords) {
    if (word.text == given) return word.value;
    known.push_back(word.text);
  }
  return unknown_word_error(Words<E>::kWhat, given, known);
}

template <class E>
[[nodiscard]] constexpr std::string_view word_of(E value) {
  for (const auto& word : Words<E>::kWords) {
    if (word.value == value) return word.text;
  }
  return "?";
}

// The precision in which a device computes. Never left to the vendor to choose.
// kFast is only ever asked for: the fastest that changes vectors by little, which the device names once it is loaded.
enum class Precision : std::int32_t { kF32 = 0, kBF16 = 1, kF16 = 2, kInt8 = 3, kFast = 4 };
template <>
struct Words<Precision> {
  static constexpr std::string_view kWhat = "precision";
  static constexpr std::array kWords{Word<Precision>{"f32", Precision::kF32}, Word<Precision>{"bf16", Precision::kBF16},
                                     Word<Precision>{"f16", Precision::kF16}, Word<Precision>{"int8", Precision::kInt8},
                                     Word<Precision>{"fast", Precision::kFast}};
};

// What the vendor should optimise for. kLatency: one run at a time uses all threads. kThroughput: several runs side by
// side, one or few threads each.
enum class PerformanceHint : std::int32_t { kLatency = 0, kThroughput = 1 };
template <>
struct Words<PerformanceHint> {
  static constexpr std::string_view kWhat = "performance hint";
  static constexpr std::array kWords{Word<PerformanceHint>{"latency", PerformanceHint::kLatency},
                                     Word<PerformanceHint>{"throughput", PerformanceHint::kThroughput}};
};

// A whole number from outside, decimal digits only. `what` names it in the error.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view what, std::string_view given, std::int64_t least,
                                                 std::int64_t most);

}  // namespace latebind::core
