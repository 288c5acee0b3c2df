// CodePointSet: a set of code points, stored as ranges.
//
// A value. It may contain surrogates, which have no effect, since checked text has none.
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {

class CodePointSet {
 public:
  struct Range {
    char32_t first;
    char32_t last;
    bool operator==(const Range&) const = default;
    bool operator<(const Range& other) const { return std::tie(first, last) < std::tie(other.first, other.last); }
  };

  CodePointSet() = default;
  CodePointSet(char32_t first, char32_t last) : ranges_{{first, last}} {}
  // The ranges may be in any order and overlap.
  explicit CodePointSet(std::vector<Range> ranges);

  // Sorted; neighbouring ranges have a gap between them.
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  bool operator==(const CodePointSet&) const = default;
  bool operator<(const CodePointSet& other) const { return ranges_ < other.ranges_; }

  [[nodiscard]] CodePointSet united(const CodePointSet& other) const;
  [[nodiscard]] CodePointSet complement() const;
  [[nodiscard]] CodePointSet intersected(const CodePointSet& other) const {
    return complement().united(other.complement()).complement();
  }

 private:
  std::vector<Range> ranges_;
};

}  // namespace latebind::embedding
