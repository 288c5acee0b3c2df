// Reads the characters and the classes of an expression. Pure functions, any thread.
#pragma once

#include <optional>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/patterns/code_point_set.h"
#include "embedding/tokenizer/patterns/pattern_cursor.h"

namespace latebind::embedding {

// One character, or a class.
struct PatternCharacter {
  std::optional<char32_t> character;
  CodePointSet set;
  bool has_no_case = false;  // in both cases or in none
};

// Reads what begins with "\\".
[[nodiscard]] core::Result<PatternCharacter> read_escape(PatternCursor& text, bool in_brackets);
// Reads a class after its "[". If case is ignored, this applies to the outermost class, before its '^'.
[[nodiscard]] core::Result<CodePointSet> read_class(PatternCursor& text, bool ignores_case);

constexpr bool is_ascii_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_decimal_digit(char32_t c) {
  return c >= '0' && c <= '9';
}
// Adds a letter of ASCII in both cases, including the long s and the Kelvin sign; other ASCII characters as they are.
void add_cases(char32_t c, std::vector<CodePointSet::Range>& ranges);

}  // namespace latebind::embedding
