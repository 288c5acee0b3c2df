#include "core/template/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/template/escapes.h"
#include "core/template/python_text.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr std::array<std::string_view, 26> kOperators{"//", "**", "==", "!=", "<=", ">=", "+", "-", "*",
                                                      "/",  "%",  "~",  "<",  ">",  "=",  "(", ")", "[",
                                                      "]",  "{",  "}",  ".",  ":",  "|",  ",", ";"};

bool is_name_part(char c) {
  return core::is_ascii_letter(c) || core::is_ascii_digit(c) || c == '_';
}

// Returns the size of the leading white space, as str.isspace() defines it.
std::size_t space_at_front(std::string_view text) {
  return text.size() - strip(text, Ends::kLeft).size();
}

// Converts all line ends to "\n", and removes the one at the end of the template.
std::string with_one_line_end(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
      continue;
    }
    text += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size())
      LB_RETURN_IF_ERROR(next_tag());
    add(TokenKind::kEnd, {});
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return source_.substr(at_); }
  void add(TokenKind kind, std::string text) {
    tokens_.push_back({.kind = kind, .text = std::move(text), .line = line_});
  }
  void advance(std::size_t size) {
    const std::string_view passed = source_.substr(at_, size);
    line_ += static_cast<std::size_t>(std::ranges::count(passed, '\n'));
    at_ += size;
    if (size > 0) begins_line_ = passed.ends_with('\n');
  }
  [[nodiscard]] char sign() const {
    const std::string_view after = rest().substr(std::min<std::size_t>(2, rest().size()));
    return !after.empty() && (after[0] == '-' || after[0] == '+') ? after[0] : '\0';
  }
  // Adds the text before a tag, without the white space that the tag and its sign remove.
  void add_text(std::string_view text, char sign, bool strips_line) {
    if (sign == '-') {
      text = strip(text, Ends::kRight);
    } else if (sign != '+' && strips_line) {
      const std::size_t line_end = text.rfind('\n');
      const std::size_t begin = line_end == std::string_view::npos ? 0 : line_end + 1;
      const bool is_at_begin = begin > 0 || text_begins_line_;
      if (is_at_begin && strip(text.substr(begin)).empty()) text = text.substr(0, begin);
    }
    if (!text.empty()) add(TokenKind::kText, std::string(text));
  }
  // Consumes the end of a tag, such as "%}", and the white space that it removes. `takes_line_end` also removes a line
  // end after it.
  bool pass_end(std::string_view end, bool takes_line_end) {
    std::string_view after = rest();
    const char sign = after.starts_with('-') || after.starts_with('+') ? after[0] : '\0';
    if (sign != '\0') after.remove_prefix(1);
    if (!after.starts_with(end) || (sign == '+' && end == "}}")) return false;
    after.remove_prefix(end.size());
    std::size_t size = end.size() + (sign == '\0' ? 0 : 1);
    if (sign == '-') {
      size += space_at_front(after);
    } else if (sign == '\0' && takes_line_end && after.starts_with('\n')) {
      size += 1;
    }
    advance(size);
    return true;
  }

  Status next_tag() {
    text_begins_line_ = begins_line_;
    std::size_t begin = at_;
    while (begin < source_.size()) {
      begin = source_.find('{', begin);
      if (begin == std::string_view::npos || begin + 1 >= source_.size()) begin = source_.size();
      if (begin == source_.size() || std::string_view("{%#").find(source_[begin + 1]) != std::string_view::npos) break;
      ++begin;
    }
    const std::string_view text = rest().substr(0, begin - at_);
    if (begin == source_.size()) {
      add_text(text, '+', false);
      advance(text.size());
      return {};
    }
    const std::size_t text_line = line_;
    advance(text.size());
    const char kind = rest()[1];
    const std::size_t tag_line = std::exchange(line_, text_line);
    add_text(text, sign(), kind != '{');
    line_ = tag_line;
    if (kind == '#') return pass_comment();
    const bool prints = kind == '{';
    if (!prints && begins_raw()) return pass_raw();
    add(prints ? TokenKind::kPrintBegin : TokenKind::kBlockBegin, {});
    advance(sign() == '\0' ? 2 : 3);
    return read_words(prints ? "}}" : "%}", prints ? TokenKind::kPrintEnd : TokenKind::kBlockEnd, !prints);
  }

  Status pass_comment() {
    const std::size_t line = line_;
    const std::size_t begin = at_ + (sign() == '\0' ? 2 : 3);
    const std::size_t end = source_.find("#}", begin);
    if (end == std::string_view::npos) return fault_at(line, "a comment has no end: '#}' is missing");
    const bool has_sign = end > begin && (source_[end - 1] == '-' || source_[end - 1] == '+');
    advance(end - at_ - (has_sign ? 1 : 0));
    pass_end("#}", true);
    return {};
  }

  // Returns the size of "{% word", or 0 for another tag.
  [[nodiscard]] std::size_t size_of_begin(std::string_view tag, std::string_view word) const {
    std::size_t size = 2;
    if (size < tag.size() && (tag[size] == '-' || tag[size] == '+')) ++size;
    size += space_at_front(tag.substr(std::min(size, tag.size())));
    if (!tag.substr(std::min(size, tag.size())).starts_with(word)) return 0;
    size += word.size();
    return size + space_at_front(tag.substr(size));
  }
  [[nodiscard]] bool begins_raw() const {
    const std::size_t size = size_of_begin(rest(), "raw");
    return size > 0 && (rest().substr(size).starts_with("%}") || rest().substr(size).starts_with("-%}"));
  }

  Status pass_raw() {
    const std::size_t line = line_;
    advance(size_of_begin(rest(), "raw"));
    pass_end("%}", false);
    text_begins_line_ = begins_line_;
    for (std::size_t end = at_; (end = source_.find("{%", end)) != std::string_view::npos; ++end) {
      const std::string_view tag = source_.substr(end);
      const std::size_t size = size_of_begin(tag, "endraw");
      if (size == 0) continue;
      const std::string_view after = tag.substr(size);
      if (!after.starts_with("%}") && !after.starts_with("-%}") && !after.starts_with("+%}")) continue;
      const std::string_view text = rest().substr(0, end - at_);
      advance(text.size());
      add_text(text, sign(), true);
      advance(size);
      pass_end("%}", true);
      return {};
    }
    return fault_at(line, "'raw' has no end: 'endraw' is missing");
  }

  Status read_words(std::string_view end, TokenKind end_kind, bool takes_line_end) {
    const std::size_t line = line_;
    std::string open;  // the brackets that are not closed, in which the tag cannot end
    while (at_ < source_.size()) {
      advance(space_at_front(rest()));
      if (open.empty() && pass_end(end, takes_line_end)) {
        add(end_kind, {});
        return {};
      }
      if (rest().empty()) break;
      LB_RETURN_IF_ERROR(read_word(open));
    }
    return fault_at(line, fmt::format("a tag has no end: '{}' is missing", end));
  }

  Status read_word(std::string& open) {
    const char c = rest()[0];
    if (core::is_ascii_digit(c)) return read_number();
    if (core::is_ascii_letter(c) || c == '_') {
      std::size_t size = 0;
      while (size < rest().size() && is_name_part(rest()[size]))
        ++size;
      add(TokenKind::kName, std::string(rest().substr(0, size)));
      advance(size);
      return {};
    }
    if (c == '"' || c == '\'') return read_string(c);
    const auto* const found =
        std::ranges::find_if(kOperators, [&](std::string_view one) { return rest().starts_with(one); });
    if (found == kOperators.end()) {
      return fault_at(line_,
                      fmt::format("{} is not expected in a tag",
                                  core::quoted(rest().substr(0, code_points_of(rest().substr(0, 4))[0].size()))));
    }
    constexpr std::string_view kOpening = "([{";
    constexpr std::string_view kClosing = ")]}";
    if (kOpening.find(c) != std::string_view::npos) {
      open += kClosing[kOpening.find(c)];
    } else if (kClosing.find(c) != std::string_view::npos) {
      if (open.empty() || open.back() != c) return fault_at(line_, fmt::format("'{}' has no opening bracket", c));
      open.pop_back();
    }
    add(TokenKind::kOperator, std::string(*found));
    advance(found->size());
    return {};
  }

  Status read_number() {
    // Digits may be grouped by underscores.
    const auto digits = [this](std::size_t from) {
      std::size_t size = from;
      while (size < rest().size() &&
             (core::is_ascii_digit(rest()[size]) || (rest()[size] == '_' && size > from && size + 1 < rest().size() &&
                                                     core::is_ascii_digit(rest()[size + 1]))))
        ++size;
      return size;
    };
    const auto char_at = [this](std::size_t at) { return at < rest().size() ? rest()[at] : '\0'; };
    std::size_t size = digits(0);
    if (size == 1 && rest()[0] == '0' && is_name_part(char_at(1)))
      return fault_at(line_, "numbers in bases other than 10 are not supported", StatusCode::kUnsupported);
    bool is_float = false;
    // A number after a dot is an index, as in a.0.1.
    const bool is_index = !tokens_.empty() && tokens_.back().is(TokenKind::kOperator, ".");
    if (!is_index && char_at(size) == '.' && core::is_ascii_digit(char_at(size + 1))) {
      size = digits(size + 1);
      is_float = true;
    }
    if (!is_index && core::ascii_lower(char_at(size)) == 'e') {
      const std::size_t sign = char_at(size + 1) == '+' || char_at(size + 1) == '-' ? 1 : 0;
      if (core::is_ascii_digit(char_at(size + 1 + sign))) {
        size = digits(size + 1 + sign);
        is_float = true;
      }
    }
    std::string text(rest().substr(0, size));
    std::erase(text, '_');
    add(is_float ? TokenKind::kFloat : TokenKind::kInteger, std::move(text));
    advance(size);
    return {};
  }

  Status read_string(char quote) {
    std::size_t size = 1;
    while (size < rest().size() && rest()[size] != quote)
      size += rest()[size] == '\\' ? 2 : 1;
    if (size >= rest().size()) return fault_at(line_, "a string has no end");
    auto text = unescaped(rest().substr(1, size - 1));
    if (!text.ok()) return fault_at(line_, text.status().message(), text.status().code());
    add(TokenKind::kString, *std::move(text));
    advance(size + 1);
    return {};
  }

  const std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  // Whether a line begins here, and the start of the text before the next tag.
  bool begins_line_ = true;
  bool text_begins_line_ = true;
  std::vector<Token> tokens_{};
};

}  // namespace

Status fault_at(std::size_t line, std::string_view fault, StatusCode code) {
  return {code, fmt::format("line {}: {}", line, fault)};
}

Result<std::vector<Token>> split_into_tokens(std::string_view source) {
  const std::string text = with_one_line_end(source);
  return Lexer(text).run();
}

}  // namespace latebind::templates
