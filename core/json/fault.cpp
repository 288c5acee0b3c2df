#include "core/json/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "core/text/ascii.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::core {
namespace {

constexpr std::size_t kPathMax = 100;
constexpr std::string_view kBlanks = " \t\r\n";

// Source of the grammar: RFC 8259. Each step returns the fault that it finds, or leaves `at_` after what it has read.
class FaultFinder {
 public:
  using Fault = std::optional<std::string>;

  FaultFinder(std::string_view text, std::size_t depth_max, const std::function<bool(std::string_view)>& is_accepted)
      : text_(text),
        depth_max_(depth_max),
        is_accepted_(is_accepted),
        invalid_at_(find_invalid_utf8(text).value_or(text.size())) {}

  Fault find() {
    for (;;) {
      bool is_open = false;
      if (auto fault = value(is_open)) return fault;
      if (is_open) continue;
      bool is_next = false;
      if (auto fault = end_of_value(is_next)) return fault;
      if (!is_next) return std::nullopt;
    }
  }

 private:
  // An object or array that encloses the current place.
  struct Level {
    bool is_object = false;
    std::string_view key{};  // as written
    std::size_t index = 0;
  };

  [[nodiscard]] bool is_at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char letter() const { return is_at_end() ? '\0' : text_[at_]; }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

  // "'input[1]'", or "it" at the top level.
  [[nodiscard]] std::string where() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.is_object) {
        path.append(path.empty() || level.key.empty() ? "" : ".").append(level.key);
      } else {
        path += fmt::format("[{}]", level.index);
      }
      if (path.size() > kPathMax) break;
    }
    return path.empty() ? "it" : quoted(path, kPathMax);
  }
  [[nodiscard]] Fault fault(std::string_view what, std::size_t at, std::string_view more = {}) const {
    const auto line = 1 + std::ranges::count(text_.substr(0, at), '\n');
    const std::string in_line = line > 1 ? fmt::format(" in line {}", line) : std::string();
    return fmt::format("{} has {} at byte {}{}{}", where(), what, at, in_line, more);
  }
  // The fault for text that is not allowed here.
  [[nodiscard]] Fault unexpected(std::string_view wanted) const {
    if (is_at_end()) return fmt::format("{} has no end: the text ends at byte {}", where(), text_.size());
    if (letter() == '\0') return fault("a zero", at_, ": JSON is UTF-8 without zero bytes");
    if (at_ == invalid_at_) return fault("invalid UTF-8", at_);
    const bool is_seen = static_cast<unsigned char>(letter()) > 0x20 && static_cast<unsigned char>(letter()) < 0x7F;
    return fault(is_seen ? fmt::format("an unexpected {}", letter()) : "an unexpected character", at_,
                 fmt::format(", expected {}", wanted));
  }

  Fault open(bool is_object, bool& is_open) {
    if (levels_.size() >= depth_max_) return fault("too many levels", at_, fmt::format(": at most {}", depth_max_));
    ++at_;
    levels_.push_back({.is_object = is_object});
    skip_blanks();
    if (letter() == (is_object ? '}' : ']') && !is_at_end()) {
      close();
      return std::nullopt;
    }
    is_open = true;
    return is_object ? key() : std::nullopt;
  }
  void close() {
    ++at_;
    levels_.pop_back();
  }

  Fault value(bool& is_open) {
    skip_blanks();
    const char first = letter();
    if (first == '{' || first == '[') return open(first == '{', is_open);
    if (first == '"') return string();
    if (first == '-' || is_ascii_digit(first)) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return std::nullopt;
    }
    for (const std::string_view word : {"NaN", "Infinity"}) {
      if (text_.substr(at_).starts_with(word)) return fault(word, at_, ": JSON has no such number");
    }
    if (first == '\'') return fault("an unexpected '", at_, ": strings are written in double quotes");
    return unexpected("a value");
  }

  // Called after a value: closes the enclosing levels up to the next value.
  Fault end_of_value(bool& is_next) {
    while (!levels_.empty()) {
      Level& level = levels_.back();
      skip_blanks();
      if (letter() == (level.is_object ? '}' : ']') && !is_at_end()) {
        close();
        continue;
      }
      if (letter() != ',') return unexpected(level.is_object ? "a comma or }" : "a comma or ]");
      ++at_;
      is_next = true;
      if (level.is_object) return key();
      ++level.index;
      return std::nullopt;
    }
    skip_blanks();
    if (is_at_end()) return std::nullopt;
    return fault(text_[at_] == '\0' ? "a zero byte" : "text after its end", at_);
  }

  Fault key() {
    Level& level = levels_.back();
    level.key = {};
    skip_blanks();
    if (letter() != '"') return unexpected("the name of a member in double quotes");
    const std::size_t begin = at_ + 1;
    if (auto fault = string()) return fault;
    const std::string_view name = text_.substr(begin, at_ - 1 - begin);
    skip_blanks();
    if (letter() != ':') return unexpected("a colon");
    ++at_;
    level.key = name;
    return std::nullopt;
  }

  Fault string() {
    ++at_;
    while (!is_at_end()) {
      if (at_ == invalid_at_) return fault("invalid UTF-8", at_);
      const char c = letter();
      if (static_cast<unsigned char>(c) < 0x20) return fault("a control character", at_, ": it must be escaped");
      if (c == '\\') {
        if (auto fault = escape()) return fault;
        continue;
      }
      ++at_;
      if (c == '"') return std::nullopt;
    }
    return unexpected({});
  }

  Fault escape() {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    const std::size_t begin = at_;
    at_ += 2;
    if (at_ > text_.size()) return unexpected({});
    if (kLetters.find(text_[begin + 1]) != std::string_view::npos) return std::nullopt;
    const auto unit = unit_at(begin);
    if (!unit) return fault("an unknown escape", begin);
    at_ = begin + kUnitSize;
    if (*unit < 0xD800 || *unit > 0xDFFF) return std::nullopt;
    const auto second = unit_at(at_);
    if (*unit > 0xDBFF || !second || *second < 0xDC00 || *second > 0xDFFF) {
      return fault("a lone surrogate", begin, ": it is not Unicode text");
    }
    at_ += kUnitSize;
    return std::nullopt;
  }
  static constexpr std::size_t kUnitSize = 6;  // the length of "\uD800"
  [[nodiscard]] std::optional<unsigned> unit_at(std::size_t begin) const {
    if (begin + kUnitSize > text_.size() || text_.substr(begin, 2) != "\\u") return std::nullopt;
    unsigned unit = 0;
    const char* const end = text_.data() + begin + kUnitSize;
    const auto [stop, error] = std::from_chars(text_.data() + begin + 2, end, unit, 16);
    return error == std::errc() && stop == end ? std::optional(unit) : std::nullopt;
  }

  void skip_digits() {
    while (is_ascii_digit(letter()))
      ++at_;
  }
  Fault number() {
    const std::size_t begin = at_;
    if (letter() == '-') ++at_;
    if (letter() == 'I') return fault("Infinity", begin, ": JSON has no such number");
    const auto is_damaged = [&] { return !is_ascii_digit(letter()); };
    if (is_damaged()) return fault("a damaged number", begin);
    if (letter() == '0') {
      ++at_;
      if (!is_damaged()) return fault("a number that begins with a zero", begin);
    }
    skip_digits();
    bool is_whole = true;
    if (letter() == '.') {
      ++at_;
      if (is_damaged()) return fault("a damaged number", begin);
      skip_digits();
      is_whole = false;
    }
    if (letter() == 'e' || letter() == 'E') {
      ++at_;
      if (letter() == '+' || letter() == '-') ++at_;
      if (is_damaged()) return fault("a damaged number", begin);
      skip_digits();
      is_whole = false;
    }
    if (is_accepted_(text_.substr(begin, at_ - begin))) return std::nullopt;
    return fault(is_whole ? "a whole number of more than 64 bits" : "a number that is too large", begin);
  }

  const std::string_view text_;
  const std::size_t depth_max_;
  const std::function<bool(std::string_view)>& is_accepted_;
  const std::size_t invalid_at_;
  std::size_t at_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

std::optional<std::string> json_fault(std::string_view text, std::size_t depth_max,
                                      const std::function<bool(std::string_view number)>& is_accepted) {
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) return "it is empty";
  if (text.starts_with(kByteOrderMark)) return "it begins with a byte order mark (EF BB BF): remove it";
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return "it is UTF-16: send UTF-8";
  return FaultFinder(text, depth_max, is_accepted).find();
}

}  // namespace latebind::core
