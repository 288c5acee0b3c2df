// TextReplacement: what parts named Replace do: every occurrence of a pattern becomes another text.
//
// Immutable, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"
#include "embedding/tokenizer/aligned_text.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/patterns/pattern.h"

namespace latebind::embedding {

// Replaces every `what`, which is not empty, by `by`, from left to right, without overlaps.
void replace_all(std::string& text, std::string_view what, std::string_view by);

class TextReplacement {
 public:
  // Reads the part's object.
  static core::Result<TextReplacement> read(const JsonView& view);

  // The greatest ratio of the length of the new text to that of the old one.
  [[nodiscard]] std::size_t growth() const;
  // The number of bytes at the beginning of the new text that represent the first `origin` bytes of the old one. The
  // replacement of a match represents the match's last byte.
  [[nodiscard]] std::size_t origin_after(std::string_view text, std::size_t origin) const;
  // Replaces from left to right, without overlaps. Throws PatternLimitError, as origin_after() does.
  [[nodiscard]] std::string apply(std::string_view text) const;
  [[nodiscard]] AlignedText apply(const AlignedText& text) const;

 private:
  TextReplacement(PatternPtr pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  PatternPtr pattern_;
  std::string content_;
};

}  // namespace latebind::embedding
