#include "embedding/tokenizer/patterns/pattern_characters.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/text/quote.h"
#include "embedding/tokenizer/patterns/character_classes.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;

CodePointSet meet(const std::optional<CodePointSet>& before, std::vector<CodePointSet::Range> united) {
  CodePointSet set(std::move(united));
  return before ? before->intersected(set) : set;
}

Result<CodePointSet> in_all_cases(const PatternCursor& text, const CodePointSet& set) {
  std::vector<CodePointSet::Range> ranges;
  for (const auto& range : set.ranges()) {
    if (range.last >= 0x80) return text.refused("a class of characters beyond ASCII where case is ignored");
    for (char32_t c = range.first; c <= range.last; ++c)
      add_cases(c, ranges);
  }
  return CodePointSet(std::move(ranges));
}

Result<PatternCharacter> read_class_character(PatternCursor& text) {
  if (text.is_next("\\")) return read_escape(text, true);
  return PatternCharacter{text.take(), {}};
}

Status read_class_item(PatternCursor& text, bool is_first, std::vector<CodePointSet::Range>& ranges) {
  const auto unite = [&ranges](const CodePointSet& set) {
    ranges.insert(ranges.end(), set.ranges().begin(), set.ranges().end());
  };
  if (text.is_next("[:")) return text.refused("a class in '[:' and ':]'");
  if (text.accept("[")) {
    LB_ASSIGN_OR_RETURN(const CodePointSet inner, read_class(text, false));
    if (text.is_next("-") && !text.is_next("-]")) return text.refused("a '-' after a class");
    unite(inner);
    return {};
  }
  if (text.is_next("-") && !is_first && !text.is_next("-]"))
    return text.refused("a '-' between characters that is not a range");
  const bool is_dash = text.is_next("-");
  LB_ASSIGN_OR_RETURN(const PatternCharacter first, read_class_character(text));
  const bool is_range = text.is_next("-") && !text.is_next("-]");
  if (is_range && (!first.character || is_dash)) return text.refused("a '-' that is not a range");
  if (!first.character) {
    unite(first.set);
    return {};
  }
  char32_t last = *first.character;
  if (is_range) {
    text.accept("-");
    if (text.at_end() || text.is_next("[") || text.is_next("-")) return text.refused("a range without its end");
    LB_ASSIGN_OR_RETURN(const PatternCharacter end, read_class_character(text));
    if (!end.character || *end.character < *first.character) return text.refused("a range without its end");
    last = *end.character;
  }
  ranges.push_back({*first.character, last});
  return {};
}

Result<PatternCharacter> read_hexadecimal(PatternCursor& text, std::size_t digits_min, std::size_t digits_max,
                                          std::string_view end, char32_t below) {
  char32_t value = 0;
  std::size_t digits = 0;
  for (; digits < digits_max && !text.at_end(); ++digits) {
    const auto c = text.byte();
    const auto lower = static_cast<char32_t>(c | 0x20U);
    if (!is_decimal_digit(c) && !(lower >= 'a' && lower <= 'f')) break;
    value = value * 16 + (is_decimal_digit(c) ? char32_t{c} - '0' : lower - 'a' + 10);
    text.skip(1);
  }
  if (digits < digits_min || !text.accept(end) || value >= below || (value >= 0xD800 && value <= 0xDFFF)) {
    return text.refused("a hexadecimal number that is not a character");
  }
  return PatternCharacter{value, {}};
}

// Reads a category after "\p" or "\P".
Result<PatternCharacter> read_category(PatternCursor& text, bool is_negated) {
  if (!text.accept("{") || text.rest().find('}') == std::string_view::npos)
    return text.refused("a '\\p' without its '{' and '}'");
  if (text.accept("^")) is_negated = !is_negated;
  const std::string_view name = text.rest().substr(0, text.rest().find('}'));
  auto set = characters_of_category(name);
  if (!set) return text.refused(core::quoted("\\p{" + std::string(name) + "}"));
  text.skip(name.size() + 1);
  return PatternCharacter{{}, is_negated ? set->complement() : std::move(*set)};
}

}  // namespace

Result<CodePointSet> read_class(PatternCursor& text, bool ignores_case) {
  LB_RETURN_IF_ERROR(text.enter());
  const bool is_negated = text.accept("^");
  std::optional<CodePointSet> intersected;
  std::vector<CodePointSet::Range> united;
  for (bool is_first = true; !text.accept("]"); is_first = false) {
    if (text.at_end()) return text.refused("a '[' without its ']'");
    if (text.accept("&&")) {
      if (united.empty()) return text.refused("a '&&' with nothing before it");
      intersected = meet(intersected, std::move(united));
      united.clear();
      if (text.is_next("]")) return text.refused("a '&&' with nothing after it");
      continue;
    }
    LB_RETURN_IF_ERROR(read_class_item(text, is_first, united));
  }
  if (united.empty()) return text.refused("an empty class");
  text.leave();
  CodePointSet set = meet(intersected, std::move(united));
  if (ignores_case) {
    LB_ASSIGN_OR_RETURN(set, in_all_cases(text, set));
  }
  return is_negated ? set.complement() : set;
}

Result<PatternCharacter> read_escape(PatternCursor& text, bool in_brackets) {
  text.accept("\\");
  if (text.at_end()) return text.refused("a '\\' at the end");
  const std::size_t begin = text.place();
  const char32_t c = text.take();
  const auto one = [](char32_t character) { return PatternCharacter{character, {}}; };
  switch (c) {
    case 'n':
      return one('\n');
    case 'r':
      return one('\r');
    case 't':
      return one('\t');
    case 'f':
      return one('\f');
    case 'v':
      return one('\v');
    case 's':
    case 'd':
    case 'w':
      return PatternCharacter{{}, characters_of_shorthand(static_cast<char>(c), in_brackets), c != 'w'};
    case 'S':
    case 'D':
    case 'W':
      return PatternCharacter{
          {}, characters_of_shorthand(static_cast<char>(c | 0x20U), in_brackets).complement(), c != 'W'};
    case 'p':
    case 'P':
      return read_category(text, c == 'P');
    case 'x':
      return text.accept("{") ? read_hexadecimal(text, 1, 6, "}", unicode::kCodePointEnd)
                              : read_hexadecimal(text, 2, 2, "", 0x80);
    case 'u':
      return read_hexadecimal(text, 4, 4, "", unicode::kCodePointEnd);
    default:
      break;
  }
  if (c >= 0x80 || is_ascii_letter(c) || is_decimal_digit(c) || c <= 0x20 || c == 0x7F) {
    return text.refused(core::quoted("\\" + std::string(text.since(begin))));
  }
  return one(c);
}

void add_cases(char32_t c, std::vector<CodePointSet::Range>& ranges) {
  ranges.push_back({c, c});
  if (!is_ascii_letter(c)) return;
  ranges.push_back({c ^ 0x20U, c ^ 0x20U});
  if ((c | 0x20U) == 's') ranges.push_back({0x17F, 0x17F});
  if ((c | 0x20U) == 'k') ranges.push_back({0x212A, 0x212A});
}

}  // namespace latebind::embedding
