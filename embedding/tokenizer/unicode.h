// Unicode properties of one code point, exactly as in the reference tokenizer.
//
// The data come from utf8proc, corrected where the reference uses another version of Unicode (unicode_reference.inc.h).
// This is the only use of utf8proc in Latebind, so the source can be replaced here. Pure functions, for any thread;
// slow (tens of nanoseconds), so CharMap caches the results.
//
// Code points are below 0x110000 and not surrogates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace latebind::embedding::unicode {

inline constexpr char32_t kCodePointEnd = 0x110000;

// Bits of a set of properties.
enum Property : std::uint8_t {
  kOther = 1,           // general category Cc, Cf, Co, except unassigned code points
  kWhitespace = 2,      // White_Space
  kPunctuation = 4,     // general category P*, and every ASCII character that is neither letter, digit nor control
  kNonspacing = 8,      // general category Mn; only useful for code points without decomposition
  kWordCharacter = 16,  // \w of regular expressions
  kLetter = 32,         // \p{L} of regular expressions
  kNumber = 64,         // \p{N} of regular expressions; \s is kWhitespace
  kMark = 128,          // general category M*
};

[[nodiscard]] std::uint8_t properties(char32_t c);

// The general category in the reference's expressions, by its two letters ("Lu").
[[nodiscard]] std::string_view category(char32_t c);

// A number for the script that the reference's UnicodeScripts assigns.
inline constexpr std::uint8_t kAnyScript = 0;
[[nodiscard]] std::uint8_t script(char32_t c);

// Whether c is in the blocks of ideographs that BERT separates, with the reference's bounds.
[[nodiscard]] bool is_chinese(char32_t c);

// Canonical combining class, 0 to 254.
[[nodiscard]] std::uint8_t combining_class(char32_t c);

// The properties that determine the ends of graphemes: Grapheme_Cluster_Break (UAX #29), and those of the conjuncts of
// Indic scripts. Regional indicators are plain here: graphemes of more than five bytes are never looked up as a whole,
// so two indicators have the same result together and separately.
enum class GraphemeClass : std::uint8_t {
  kPlain,
  kCr,
  kLf,
  kControl,
  kExtend,       // may also be inside a conjunct
  kLinker,       // extends, and joins two consonants to a conjunct
  kExtendApart,  // extends, and ends a conjunct
  kZwj,
  kSpacingMark,
  kPrepend,
  kL,  // Hangul: leading consonants, vowels, trailing consonants, and syllables of two or three of these
  kV,
  kT,
  kLv,
  kLvt,
  kPictographic,
  kConsonant,
};

[[nodiscard]] GraphemeClass grapheme_class(char32_t c);

// A few code points; no mapping that is used here has more than four.
struct Sequence {
  std::array<char32_t, 4> data{};
  std::size_t size = 0;

  [[nodiscard]] const char32_t* begin() const { return data.data(); }
  [[nodiscard]] const char32_t* end() const { return data.data() + size; }
};

// Full canonical decomposition (NFD of one code point).
[[nodiscard]] Sequence decompose(char32_t c);

// Full compatibility decomposition (NFKD of one code point): up to 18 code points.
[[nodiscard]] std::vector<char32_t> decompose_compatibly(char32_t c);

// The primary composition of these two, or 0.
[[nodiscard]] char32_t compose(char32_t first, char32_t second);
// Whether c is the second one of any composition.
[[nodiscard]] bool may_be_composed(char32_t c);

// Full lower case, without regard to context or language.
[[nodiscard]] Sequence lower_case(char32_t c);

}  // namespace latebind::embedding::unicode
