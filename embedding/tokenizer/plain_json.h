// PlainJson: takes the plain entries of large lists from the front of a JSON text: punctuation, integers, and strings
// without an escape. core/json reads everything else.
//
// Whatever it takes, the parser would have read in the same way. If it takes nothing, there may be an error or just a
// less common form, and its position is then meaningless. The text must be well-formed UTF-8, since strings are not
// checked. A view: the text must outlive it. One thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "embedding/tokenizer/json_number.h"
#include "embedding/tokenizer/short_bytes.h"

namespace latebind::embedding {

class PlainJson {
 public:
  explicit PlainJson(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  // The first byte that has not been taken.
  [[nodiscard]] const char* at() const { return at_; }

  // Takes white space, then this character.
  bool take(char mark) {
    skip_spaces();
    if (at_ == end_ || *at_ != mark) return false;
    ++at_;
    return true;
  }
  // Skips white space, and returns whether this character follows.
  bool is_before(char mark) {
    skip_spaces();
    return at_ != end_ && *at_ == mark;
  }
  // Skips white space, and returns whether the text ends there.
  bool is_at_end() {
    skip_spaces();
    return at_ == end_;
  }
  // Takes white space, then a string, and returns its content.
  std::optional<std::string_view> take_string() {
    if (!take('"')) return std::nullopt;
    const char* const begin = at_;
    skip_plain();
    if (at_ == end_ || *at_ != '"') return std::nullopt;
    const std::string_view content(begin, static_cast<std::size_t>(at_ - begin));
    ++at_;
    return content;
  }
  // Takes white space, then the digits of an integer from 0 on. If the caller then takes a punctuation mark, the number
  // had no fraction.
  std::optional<std::uint64_t> take_whole_number() {
    skip_spaces();
    constexpr std::ptrdiff_t kDigitsMax = 19;  // any number with this many digits fits
    const char* const begin = at_;
    std::uint64_t number = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      if (at_ - begin == kDigitsMax) return std::nullopt;
      number = number * 10 + static_cast<std::uint64_t>(*at_ - '0');
    }
    if (at_ == begin || (*begin == '0' && at_ - begin > 1)) return std::nullopt;
    return number;
  }
  // Takes white space, then any number, as take_json_number() reads it.
  std::optional<double> take_number(NumberRounding rounding) {
    skip_spaces();
    std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
    const auto number = take_json_number(rest, rounding);
    at_ = end_ - rest.size();
    return number;
  }

  // Takes white space, then any string, and returns it as it is written, with its quotes. Its escapes are not checked.
  std::optional<std::string_view> take_written_string() {
    skip_spaces();
    const char* const begin = at_;
    if (!take('"')) return std::nullopt;
    for (;;) {
      skip_plain();
      if (end_ - at_ < 2) break;
      if (*at_ == '"') break;
      at_ += *at_ == '\\' ? 2 : 1;
    }
    if (!take('"')) return std::nullopt;
    return std::string_view(begin, static_cast<std::size_t>(at_ - begin));
  }
  // Skips white space, then any value, as far as its brackets and its strings say, which are not checked otherwise.
  bool skip_value() {
    skip_spaces();
    const char* const begin = at_;
    for (std::size_t depth = 0; at_ != end_;) {
      const char c = *at_;
      if (c == '"') {
        if (!take_written_string()) return false;
      } else if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
        break;
      } else {
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        ++at_;
      }
    }
    return at_ != begin;
  }

 private:
  static constexpr std::uint64_t kOnes = 0x0101010101010101U;
  static constexpr std::uint64_t kHighBits = 0x8080808080808080U;

  [[nodiscard]] bool has(std::ptrdiff_t bytes) const { return end_ - at_ >= bytes; }
  // The index of the first of eight bytes whose high bit is set; 8 if no byte has it set.
  static std::ptrdiff_t first_of(std::uint64_t found) { return std::countr_zero(found) / 8; }

  void skip_spaces() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
      ++at_;
      // Indentation, eight spaces at a time.
      while (has(8)) {
        const std::ptrdiff_t spaces = first_of(word_at<std::uint64_t>(at_) ^ ' ' * kOnes);
        at_ += spaces;
        if (spaces < 8) break;
      }
    }
  }

  // Sets a bit in the first of eight bytes that is a quotation mark, an escape or not allowed in a string, and possibly
  // in later ones.
  static std::uint64_t not_plain(std::uint64_t bytes) {
    const std::uint64_t quote = bytes ^ '"' * kOnes;
    const std::uint64_t escape = bytes ^ '\\' * kOnes;
    return (((quote - kOnes) & ~quote) | ((escape - kOnes) & ~escape) | ((bytes - 0x20 * kOnes) & ~bytes)) & kHighBits;
  }
  // Skips to such a byte, 16 bytes at a time without a branch between the halves: most tokens end in one of them, and a
  // branch could not be predicted.
  void skip_plain() {
    while (has(16)) {
      const std::ptrdiff_t first = first_of(not_plain(word_at<std::uint64_t>(at_)));
      const std::ptrdiff_t second = first_of(not_plain(word_at<std::uint64_t>(at_ + 8)));
      const std::ptrdiff_t plain = first + (first == 8 ? second : 0);
      at_ += plain;
      if (plain < 16) return;
    }
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20)
      ++at_;
  }

  const char* at_;
  const char* end_;
};

}  // namespace latebind::embedding
