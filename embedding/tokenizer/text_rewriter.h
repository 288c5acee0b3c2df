// TextRewriter: a text that a normalizer reads and rewrites, code point by code point.
//
// Reading and writing go through one object, so that it can know the origin of each written byte. Nothing needs that
// yet, and it is not recorded. A view of the text; one thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/text/utf8.h"

namespace latebind::embedding {

class TextRewriter {
 public:
  // `text` must be well-formed UTF-8.
  explicit TextRewriter(std::string_view text) : rest_(text) { written_.reserve(text.size()); }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  // The next code point; not at the end.
  char32_t read() {
    const char* p = rest_.data();
    const char32_t c = core::decode_utf8(p);
    rest_.remove_prefix(static_cast<std::size_t>(p - rest_.data()));
    return c;
  }
  // Everything not read yet, for normalizers with their own walk.
  std::string_view read_rest() { return std::exchange(rest_, {}); }

  void write(char32_t c) {
    core::encode_utf8(c, [this](char byte) { written_.push_back(byte); });
  }
  void write(std::string_view text) { written_.append(text); }
  [[nodiscard]] std::string take() { return std::move(written_); }

 private:
  std::string_view rest_;
  std::string written_;
};

}  // namespace latebind::embedding
