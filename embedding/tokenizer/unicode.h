// Unicode properties of one code point, exactly as the reference tokenizer has them.
//
// The data come from utf8proc, corrected where the reference uses another version of Unicode (see
// unicode_reference.inc.h). Nothing else in Latebind uses utf8proc, so that the source can be replaced here. Pure
// functions, for any thread; slow (tens of nanoseconds): CharMap caches the results.
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

// A set of these, as bits.
enum Property : std::uint8_t {
  kOther = 1,           // general category Cc, Cf, Co; not the unassigned ones
  kWhitespace = 2,      // White_Space
  kPunctuation = 4,     // general category P*, and every ASCII character that is neither letter, digit nor control
  kNonspacing = 8,      // general category Mn; of use only for what has no decomposition
  kWordCharacter = 16,  // what \w is in regular expressions
  kLetter = 32,         // what \p{L} is there
  kNumber = 64,         // and \p{N}; \s is kWhitespace
  kMark = 128,          // general category M*
};

[[nodiscard]] std::uint8_t properties(char32_t c);

// The general category as the reference's expressions have it, by its two letters ("Lu").
[[nodiscard]] std::string_view category(char32_t c);

// Which script the reference's UnicodeScripts takes it for, as a number.
inline constexpr std::uint8_t kAnyScript = 0;
[[nodiscard]] std::uint8_t script(char32_t c);

// The blocks of ideographs that BERT sets apart, with the reference's own bounds.
[[nodiscard]] bool is_chinese(char32_t c);

// Canonical combining class, 0 to 254.
[[nodiscard]] std::uint8_t combining_class(char32_t c);

// What matters for where a grapheme ends: the property Grapheme_Cluster_Break (UAX #29), and those of the conjuncts of
// Indic scripts. Regional indicators are plain here: what looks graphemes up knows none of more than five bytes as a
// whole, so two of them are the same together and apart.
enum class GraphemeClass : std::uint8_t {
  kPlain,
  kCr,
  kLf,
  kControl,
  kExtend,       // and may stand inside a conjunct
  kLinker,       // extends, and makes a conjunct of two consonants
  kExtendApart,  // extends, and ends a conjunct
  kZwj,
  kSpacingMark,
  kPrepend,
  kL,  // Hangul: leading consonants, vowels, trailing consonants, and syllables of two and three of these
  kV,
  kT,
  kLv,
  kLvt,
  kPictographic,
  kConsonant,
};

[[nodiscard]] GraphemeClass grapheme_class(char32_t c);

// A few code points; no mapping used here is longer than four.
struct Sequence {
  std::array<char32_t, 4> data{};
  std::size_t size = 0;

  [[nodiscard]] const char32_t* begin() const { return data.data(); }
  [[nodiscard]] const char32_t* end() const { return data.data() + size; }
};

// Full canonical decomposition (what NFD makes of one code point).
[[nodiscard]] Sequence decompose(char32_t c);

// Full compatibility decomposition (what NFKD makes of it): up to 18 code points.
[[nodiscard]] std::vector<char32_t> decompose_compatibly(char32_t c);

// The code point that these two are as one (primary composition), or 0.
[[nodiscard]] char32_t compose(char32_t first, char32_t second);
// Whether c is the second one of any two.
[[nodiscard]] bool may_be_composed(char32_t c);

// Full lower case, without regard to context or language.
[[nodiscard]] Sequence lower_case(char32_t c);

}  // namespace latebind::embedding::unicode
