// CodePointSet: a set of code points, as the ranges that it consists of.
//
// A value. Surrogates may be in it and mean nothing, since no checked text has them.
#pragma once

#include <compare>
#include <utility>
#include <vector>

#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {

class CodePointSet {
 public:
  struct Range {
    char32_t first;
    char32_t last;
    auto operator<=>(const Range&) const = default;
  };

  CodePointSet() = default;
  CodePointSet(char32_t first, char32_t last) : ranges_{{first, last}} {}
  // In any order, and they may overlap.
  explicit CodePointSet(std::vector<Range> ranges);

  // In order; between two of them something is left out.
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  auto operator<=>(const CodePointSet&) const = default;

  [[nodiscard]] CodePointSet united(const CodePointSet& other) const;
  [[nodiscard]] CodePointSet complement() const;
  [[nodiscard]] CodePointSet intersected(const CodePointSet& other) const {
    return complement().united(other.complement()).complement();
  }

 private:
  std::vector<Range> ranges_;
};

}  // namespace latebind::embedding
