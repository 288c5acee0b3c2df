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

// Every `what`, which is not empty, becomes `by`: from left to right, each where the last one ended.
void replace_all(std::string& text, std::string_view what, std::string_view by);

class TextReplacement {
 public:
  // From the part's object.
  static core::Result<TextReplacement> read(const JsonView& view);

  // How many times as long as a text the new one can be at most.
  [[nodiscard]] std::size_t growth() const;
  // How many bytes at the beginning of the new text stand for the first `origin` of the old one. The content of a match
  // stands for its last byte.
  [[nodiscard]] std::size_t origin_after(std::string_view text, std::size_t origin) const;
  // From left to right, each where the last one ended. Throws PatternLimitError, as origin_after does.
  [[nodiscard]] std::string apply(std::string_view text) const;
  [[nodiscard]] AlignedText apply(const AlignedText& text) const;

 private:
  TextReplacement(PatternPtr pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  PatternPtr pattern_;
  std::string content_;
};

}  // namespace latebind::embedding
