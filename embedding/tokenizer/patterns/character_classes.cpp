#include "embedding/tokenizer/patterns/character_classes.h"

#include <algorithm>

namespace latebind::embedding {
namespace {

struct CategoryRun {
  char32_t first;
  char32_t last;
  std::string_view category;
};

// The category of every code point, computed once: two milliseconds and 80 KB, only for files with such expressions.
const std::vector<CategoryRun>& category_runs() {
  static const auto* const runs = [] {
    auto* const found = new std::vector<CategoryRun>;
    for (char32_t c = 0; c < unicode::kCodePointEnd; ++c) {
      const std::string_view category = unicode::category(c);
      if (!found->empty() && found->back().category == category) {
        found->back().last = c;
      } else {
        found->push_back({c, c, category});
      }
    }
    return found;
  }();
  return *runs;
}

}  // namespace

std::optional<CodePointSet> characters_of_category(std::string_view name) {
  if (name.empty() || name.size() > 2) return std::nullopt;
  std::vector<CodePointSet::Range> ranges;
  for (const CategoryRun& run : category_runs()) {
    if (run.category.starts_with(name)) ranges.push_back({run.first, run.last});
  }
  if (ranges.empty()) return std::nullopt;
  return CodePointSet(std::move(ranges));
}

CodePointSet characters_of_shorthand(char letter, bool in_brackets) {
  if (letter == 's') {
    return CodePointSet({{9, 13}, {0x85, 0x85}, {0x20, 0x20}}).united(*characters_of_category("Z"));
  }
  CodePointSet digits = *characters_of_category("Nd");
  if (letter == 'd') return digits;
  // The letters in circles and squares.
  CodePointSet word({{0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}});
  // Superscripts and fractions of Latin-1, for which the engine has a separate table.
  if (!in_brackets) word = word.united(CodePointSet({{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}}));
  for (const std::string_view name : {"L", "M", "Nd", "Nl", "Pc"})
    word = word.united(*characters_of_category(name));
  return word;
}

}  // namespace latebind::embedding
