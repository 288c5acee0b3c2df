// PatternAlphabet: which characters a pattern tells apart. Those that are in the same of its sets are one letter.
//
// So a text becomes one byte a character before it is searched, and what the library that searches knows of Unicode
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
  // kUnsupported when the sets make more than 256 letters.
  static core::Result<std::unique_ptr<const PatternAlphabet>> create(const std::vector<CodePointSet>& sets);

  [[nodiscard]] std::uint8_t letter_of(char32_t c) const {
    if (c < ascii_.size()) return ascii_[c];
    const auto fill = [this](char32_t first, Page& page) { fill_page(first, page); };
    return pages_.page_of(c, fill)[c & 0xFFU];
  }
  // The letters of a set, by its place in the list.
  [[nodiscard]] const std::string& letters_of(std::size_t set) const { return letters_[set]; }

 private:
  using Page = std::array<std::uint8_t, 256>;
  struct Run {
    char32_t first;  // up to the next one's
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
