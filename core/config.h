// Typed configuration values. Words from outside are converted to enumerations only here.
//
// An unknown word is an error that lists the known words and names the nearest one. Pure functions, for any thread.
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

// The words of an enumeration. Specialise it with `static constexpr std::string_view kWhat` (what the words name, such
// as "precision") and `static constexpr std::array kWords`.
template <class E>
struct Words;

// Returns kInvalidArgument: "unknown WHAT 'GIVEN' (did you mean X?); known: A, B, C". If `listed` is not empty, it
// replaces the list of known words: "; LISTED".
[[nodiscard]] Status unknown_word_error(std::string_view what, std::string_view given,
                                        std::span<const std::string_view> known, std::string_view listed = {});

// Returns the value that the word stands for, or unknown_word_error().
template <class E>
[[nodiscard]] Result<E> parse_word(std::string_view given) {
  std::vector<std::string_view> known;
  for (const auto& word : Words<E>::kWords) {
    if (word.text == given) return word.value;
    known.push_back(word.text);
  }
  return unknown_word_error(Words<E>::kWhat, given, known);
}

// Returns the word of a value, or "?" for a value that has no word.
template <class E>
[[nodiscard]] constexpr std::string_view word_of(E value) {
  for (const auto& word : Words<E>::kWords) {
    if (word.value == value) return word.text;
  }
  return "?";
}

// The precision in which a device computes; Latebind never leaves this choice to the vendor. kFast is only a request:
// the fastest precision that changes vectors by little. The loaded device reports which one it uses.
enum class Precision : std::int32_t { kF32 = 0, kBF16 = 1, kF16 = 2, kInt8 = 3, kFast = 4 };
template <>
struct Words<Precision> {
  static constexpr std::string_view kWhat = "precision";
  static constexpr std::array kWords{Word<Precision>{"f32", Precision::kF32}, Word<Precision>{"bf16", Precision::kBF16},
                                     Word<Precision>{"f16", Precision::kF16}, Word<Precision>{"int8", Precision::kInt8},
                                     Word<Precision>{"fast", Precision::kFast}};
};

// What the vendor should optimise for. kLatency: one run at a time uses all threads. kThroughput: several runs proceed
// side by side, with one or few threads each.
enum class PerformanceHint : std::int32_t { kLatency = 0, kThroughput = 1 };
template <>
struct Words<PerformanceHint> {
  static constexpr std::string_view kWhat = "performance hint";
  static constexpr std::array kWords{Word<PerformanceHint>{"latency", PerformanceHint::kLatency},
                                     Word<PerformanceHint>{"throughput", PerformanceHint::kThroughput}};
};

// Parses a whole number of decimal digits between `least` and `most`; kInvalidArgument otherwise. `what` names the
// number in the error.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view what, std::string_view given, std::int64_t least,
                                                 std::int64_t most);

}  // namespace latebind::core
