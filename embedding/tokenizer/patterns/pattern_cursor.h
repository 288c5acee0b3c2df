// PatternCursor: the text of an expression, and the place up to which it has been read.
//
// A value that the readers of one expression share. One thread.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/text/utf8.h"

namespace latebind::embedding {

class PatternCursor {
 public:
  // `text` must be well-formed UTF-8.
  explicit PatternCursor(std::string_view text) : text_(text) {}

  // The error for syntax that is not supported at this place.
  [[nodiscard]] core::Status refused(const std::string& what) const {
    return {core::StatusCode::kUnsupported, fmt::format("{} (at byte {})", what, at_)};
  }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] bool is_next(std::string_view what) const { return rest().starts_with(what); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] std::size_t place() const { return at_; }
  [[nodiscard]] std::string_view since(std::size_t place) const { return text_.substr(place, at_ - place); }
  // The next byte; not at the end.
  [[nodiscard]] unsigned char byte() const { return static_cast<unsigned char>(text_[at_]); }
  void skip(std::size_t bytes) { at_ += bytes; }
  bool accept(std::string_view what) {
    if (!is_next(what)) return false;
    at_ += what.size();
    return true;
  }
  char32_t take() {
    const char* p = text_.data() + at_;
    const char32_t c = core::decode_utf8(p);
    at_ = static_cast<std::size_t>(p - text_.data());
    return c;
  }

  // Call these at the beginning and the end of a group or class. Their nesting is bounded.
  [[nodiscard]] core::Status enter() {
    if (++depth_ <= kGroupDepthMax) return {};
    return refused(fmt::format("more than {} groups in each other", kGroupDepthMax));
  }
  void leave() { --depth_; }

 private:
  static constexpr std::size_t kGroupDepthMax = 64;

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace latebind::embedding
