// TextRewriter: a text that a normalizer reads and rewrites, code point by code point.
//
// Reading and writing share one object, which also tracks the origin: the number of bytes at the beginning that
// represent the first character before all normalization. A view of the text; one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/utf8.h"

namespace latebind::embedding {

class TextRewriter {
 public:
  // `text` must be well-formed UTF-8.
  explicit TextRewriter(std::string_view text, std::size_t origin = 0) : rest_(text), origin_(origin) {
    written_.reserve(text.size());
  }

  // The origin of the text that is read or, after a normalizer has set it, of the text that is written.
  [[nodiscard]] std::size_t origin() const { return origin_; }
  void set_origin(std::size_t bytes) { origin_ = bytes; }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  // Reads the next code point; must not be called at the end.
  char32_t read() {
    const char* p = rest_.data();
    const char32_t c = core::decode_utf8(p);
    rest_.remove_prefix(static_cast<std::size_t>(p - rest_.data()));
    return c;
  }
  // Takes all text that has not been read, for normalizers that walk over it themselves.
  std::string_view read_rest() { return std::exchange(rest_, {}); }

  void write(char32_t c) {
    core::encode_utf8(c, [this](char byte) { written_.push_back(byte); });
  }
  void write(std::string_view text) { written_.append(text); }
  [[nodiscard]] std::string take() { return std::move(written_); }

 private:
  std::string_view rest_;
  std::string written_;
  std::size_t origin_;
};

}  // namespace latebind::embedding
