// Normalizer: the first part of a tokenizer, which normalizes a text (lower case, accents stripped …).
//
// One file for each in normalizers/; part_table.h has them by name. Immutable, any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "embedding/tokenizer/aligned_text.h"
#include "embedding/tokenizer/text_rewriter.h"

namespace latebind::embedding {

class Normalizer {
 public:
  Normalizer() = default;
  Normalizer(const Normalizer&) = delete;
  Normalizer& operator=(const Normalizer&) = delete;
  virtual ~Normalizer() = default;

  // How many times as long as a text what comes out can be at most, apart from what is always the same.
  [[nodiscard]] virtual std::size_t growth() const { return 3; }
  // Reads the text to its end.
  virtual void rewrite(TextRewriter& text) const = 0;
  // The same text as rewrite() makes, with the reference's account of what its bytes stand for. Slower.
  [[nodiscard]] virtual AlignedText align(const AlignedText& text) const = 0;

  // Whether it sets the origin, to what the reference's offsets say.
  [[nodiscard]] virtual bool tracks_origin() const { return false; }

  // `text` must be well-formed UTF-8, and so is the result.
  [[nodiscard]] std::string normalize(std::string_view text) const {
    std::size_t origin = 0;
    return normalize(text, origin);
  }
  // The same; `origin` is that of the text, and becomes that of the result.
  [[nodiscard]] std::string normalize(std::string_view text, std::size_t& origin) const {
    TextRewriter rewriter(text, origin);
    rewrite(rewriter);
    origin = rewriter.origin();
    return rewriter.take();
  }
};

using NormalizerPtr = std::unique_ptr<const Normalizer>;

}  // namespace latebind::embedding
