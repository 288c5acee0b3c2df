// TextReplacement: what parts named Replace do: every occurrence of a pattern becomes another text.
//
// Immutable, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"

namespace latebind::embedding {

// Every `what`, which is not empty, becomes `by`: from left to right, each where the last one ended.
void replace_all(std::string& text, std::string_view what, std::string_view by);

class TextReplacement {
 public:
  // From the part's object: its pattern is a text, or the one regular expression that models of SentencePiece have.
  // kUnsupported names another one.
  static core::Result<TextReplacement> read(const JsonView& view);

  // How many times as long as a text the new one can be at most.
  [[nodiscard]] std::size_t growth() const;
  // How many bytes at the beginning of the new text stand for the first `origin` of the old one. The content of a match
  // stands for its last byte.
  [[nodiscard]] std::size_t origin_after(std::string_view text, std::size_t origin) const;
  // From left to right, each where the last one ended.
  [[nodiscard]] std::string apply(std::string_view text) const;

 private:
  struct Match {
    std::size_t begin;
    std::size_t end;
  };

  TextReplacement(std::string text, std::string content) : text_(std::move(text)), content_(std::move(content)) {}
  // The first match at or after `from`, or the end of the text twice.
  [[nodiscard]] Match find(std::string_view text, std::size_t from) const;

  std::string text_;  // what is looked for; empty: two spaces or more
  std::string content_;
};

}  // namespace latebind::embedding
