// PatternAlphabet: the characters that a pattern distinguishes. Characters that are in the same sets are one letter.
//
// With it, a text becomes one byte per character before it is searched, and the search library's knowledge of Unicode
// does not matter. Immutable, any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/code_point_pages.h"
#include "embedding/tokenizer/patterns/code_point_set.h"

namespace latebind::embedding {

class PatternAlphabet {
 public:
  // Returns kUnsupported if the sets result in more than 256 letters.
  static core::Result<std::unique_ptr<const PatternAlphabet>> create(const std::vector<CodePointSet>& sets);

  [[nodiscard]] std::uint8_t letter_of(char32_t c) const {
    if (c < ascii_.size()) return ascii_[c];
    const auto fill = [this](char32_t first, Page& page) { fill_page(first, page); };
    return pages_.page_of(c, fill)[c & 0xFFU];
  }
  // The letters of a set, by its index in the list.
  [[nodiscard]] const std::string& letters_of(std::size_t set) const { return letters_[set]; }

 private:
  using Page = std::array<std::uint8_t, 256>;
  struct Run {
    char32_t first;  // the run ends before the next one's first
    std::uint8_t letter;
  };

  PatternAlphabet() = default;
  void fill_page(char32_t first, Page& page) const;

  std::vector<Run> runs_;
  std::vector<std::string> letters_;
  std::array<std::uint8_t, 128> ascii_{};
  CodePointPages<Page> pages_;
};

}  // namespace latebind::embedding
