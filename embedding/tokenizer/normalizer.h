// Normalizer: the first part of a tokenizer, which normalizes a text (lower case, stripped accents …).
//
// Each normalizer is a file in normalizers/; part_table.h lists them by name. Immutable, any thread.
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

  // The greatest ratio of the length of the result to that of the text, apart from a constant.
  [[nodiscard]] virtual std::size_t growth() const { return 3; }
  // Reads the text to its end.
  virtual void rewrite(TextRewriter& text) const = 0;
  // Makes the same text as rewrite(), with the character that each byte represents as in the reference. Slower.
  [[nodiscard]] virtual AlignedText align(const AlignedText& text) const = 0;

  // Whether rewrite() sets the origin to that of the reference's offsets.
  [[nodiscard]] virtual bool tracks_origin() const { return false; }

  // `text` must be well-formed UTF-8; so is the result.
  [[nodiscard]] std::string normalize(std::string_view text) const {
    std::size_t origin = 0;
    return normalize(text, origin);
  }
  // The same; `origin` is that of the text, and receives that of the result.
  [[nodiscard]] std::string normalize(std::string_view text, std::size_t& origin) const {
    TextRewriter rewriter(text, origin);
    rewrite(rewriter);
    origin = rewriter.origin();
    return rewriter.take();
  }
};

using NormalizerPtr = std::unique_ptr<const Normalizer>;

}  // namespace latebind::embedding
