#include "embedding/tokenizer/python_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/text/utf8.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

constexpr char32_t kSigma = 0x3A3;
constexpr char32_t kSmallSigma = 0x3C3;
constexpr char32_t kFinalSigma = 0x3C2;

constexpr bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Case_Ignorable: marks, formats, modifiers, and the marks inside words (Word_Break MidLetter, MidNumLet and
// Single_Quote, UAX #29).
bool is_case_ignorable(char32_t c) {
  constexpr std::array<char32_t, 16> kInsideWords{0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,  0x5F4,  0x2018,
                                                  0x2019, 0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E};
  constexpr char32_t kWideColon = 0xFF1A;
  constexpr std::array<std::string_view, 5> kCategories{"Mn", "Me", "Cf", "Lm", "Sk"};
  return c == kWideColon || std::ranges::find(kInsideWords, c) != kInsideWords.end() ||
         std::ranges::find(kCategories, unicode::category(c)) != kCategories.end();
}

// Cased, for a code point that is not case-ignorable: letters with case, and the letters, numbers and symbols of
// Other_Lowercase and Other_Uppercase.
bool is_cased(char32_t c) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr std::array kOthers{Range{0xAA, 0xAA},      Range{0xBA, 0xBA},       Range{0x2160, 0x217F},
                               Range{0x24B6, 0x24E9},  Range{0x1F130, 0x1F149}, Range{0x1F150, 0x1F169},
                               Range{0x1F170, 0x1F189}};
  constexpr std::array<std::string_view, 3> kCategories{"Lu", "Ll", "Lt"};
  return std::ranges::find(kCategories, unicode::category(c)) != kCategories.end() ||
         std::ranges::any_of(kOthers, [c](const Range& range) { return c >= range.first && c <= range.last; });
}

// Whether the sigma at this place ends a word: a cased letter precedes it, and none follows, without regard to what is
// case-ignorable.
bool is_final(const std::vector<char32_t>& text, std::size_t place) {
  std::size_t before = place;
  while (before > 0 && is_case_ignorable(text[before - 1]))
    --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = place + 1;
  while (after < text.size() && is_case_ignorable(text[after]))
    ++after;
  return after == text.size() || !is_cased(text[after]);
}

}  // namespace

std::string python_lower(std::string_view text) {
  std::vector<char32_t> points;
  points.reserve(text.size());
  for (const char* at = text.data(); at != text.data() + text.size();)
    points.push_back(core::decode_utf8(at));
  std::string lowered;
  lowered.reserve(text.size());
  const auto write = [&lowered](char32_t c) {
    core::encode_utf8(c, [&lowered](char byte) { lowered.push_back(byte); });
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] == kSigma) {
      write(is_final(points, i) ? kFinalSigma : kSmallSigma);
      continue;
    }
    for (const char32_t low : unicode::lower_case(points[i]))
      write(low);
  }
  return lowered;
}

std::string_view strip_python_spaces(std::string_view text) {
  const char* const text_end = text.data() + text.size();
  const char* begin = text.data();
  for (const char* next = begin; next != text_end && is_python_space(core::decode_utf8(next));)
    begin = next;
  const char* end = begin;
  for (const char* next = begin; next != text_end;) {
    if (!is_python_space(core::decode_utf8(next))) end = next;
  }
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view strip_ascii_punctuation(std::string_view text) {
  while (!text.empty() && is_ascii_punctuation(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_ascii_punctuation(text.back()))
    text.remove_suffix(1);
  return text;
}

}  // namespace latebind::embedding
