// CodePointTable: a small value for each code point, computed in pages of 256 when one of them is first asked for.
//
// Any thread may look up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {

// `kCompute` is never asked for a surrogate: its value is Value{}.
template <class Value, Value (*kCompute)(char32_t)>
class CodePointTable {
 public:
  // One for the process and never destroyed, since threads may still tokenize while the process ends.
  static const CodePointTable& shared() {
    static const auto* const table = new CodePointTable;
    return *table;
  }

  [[nodiscard]] Value of(char32_t c) const {
    const Page* page = pages_[c >> 8].load(std::memory_order_acquire);
    if (page == nullptr) page = make_page(c >> 8);
    return (*page)[c & 0xFFU];
  }

 private:
  using Page = std::array<Value, 256>;

  CodePointTable() = default;

  const Page* make_page(std::size_t index) const {
    auto made = std::make_unique<Page>();
    for (std::size_t i = 0; i < made->size(); ++i) {
      const auto c = static_cast<char32_t>(index << 8 | i);
      const bool is_surrogate = c >= 0xD800 && c <= 0xDFFF;  // never in checked text
      (*made)[i] = is_surrogate ? Value{} : kCompute(c);
    }
    const Page* expected = nullptr;
    // A thread that loses the race drops its copy.
    if (pages_[index].compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
      expected = made.release();
    }
    return expected;
  }

  mutable std::array<std::atomic<const Page*>, (unicode::kCodePointEnd >> 8)> pages_{};
};

}  // namespace latebind::embedding
