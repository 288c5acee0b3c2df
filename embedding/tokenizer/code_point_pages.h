// CodePointPages: tables of 256 code points each, created when one of the code points is first looked up.
//
// Owns the tables. Any thread may look up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {

template <class Page>
class CodePointPages {
 public:
  CodePointPages() = default;
  CodePointPages(const CodePointPages&) = delete;
  CodePointPages& operator=(const CodePointPages&) = delete;
  ~CodePointPages() {
    for (auto& page : pages_)
      delete page.load(std::memory_order_relaxed);
  }

  // The page of c. `fill(first code point, page)` fills a value-initialised page.
  template <class Fill>
  [[nodiscard]] const Page& page_of(char32_t c, Fill fill) const {
    const Page* const page = pages_[c >> 8].load(std::memory_order_acquire);
    return page != nullptr ? *page : make(c >> 8, fill);
  }

 private:
  template <class Fill>
  const Page& make(std::size_t index, Fill fill) const {
    auto page = std::make_unique<Page>();
    fill(static_cast<char32_t>(index << 8), *page);
    const Page* expected = nullptr;
    // A thread that loses the race drops its copy.
    if (pages_[index].compare_exchange_strong(expected, page.get(), std::memory_order_acq_rel)) return *page.release();
    return *expected;
  }

  // Each pointer changes once, from null to its final value.
  mutable std::array<std::atomic<const Page*>, (unicode::kCodePointEnd >> 8)> pages_{};
};

}  // namespace latebind::embedding
