// CodePointTable: a small value for each code point, computed when the code point or one of its neighbours is first
// looked up.
//
// Any thread may look up.
#pragma once

#include <array>
#include <cstddef>

#include "embedding/tokenizer/code_point_pages.h"

namespace latebind::embedding {

// `kCompute` is never called for a surrogate, whose value is Value{}.
template <class Value, Value (*kCompute)(char32_t)>
class CodePointTable {
 public:
  // The process has one, never destroyed, since threads may still tokenize while the process ends.
  static const CodePointTable& shared() {
    static const auto* const table = new CodePointTable;
    return *table;
  }

  [[nodiscard]] Value of(char32_t c) const { return pages_.page_of(c, fill)[c & 0xFFU]; }

 private:
  using Page = std::array<Value, 256>;

  CodePointTable() = default;

  static void fill(char32_t first, Page& page) {
    for (Value& value : page) {
      const bool is_surrogate = first >= 0xD800 && first <= 0xDFFF;  // never in checked text
      if (!is_surrogate) value = kCompute(first);
      ++first;
    }
  }

  CodePointPages<Page> pages_;
};

}  // namespace latebind::embedding
