// BertNormalizer: cleans, separates ideographs, strips accents and lowers case, depending on its options. Immutable,
// any thread.
#pragma once

#include "embedding/tokenizer/char_map.h"
#include "embedding/tokenizer/normalizer.h"

namespace latebind::embedding {

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options) : options_(options), map_(options) {}

  void rewrite(TextRewriter& text) const override;
  [[nodiscard]] AlignedText align(const AlignedText& text) const override;

  // The mapping of each code point, for code that walks over the text itself.
  [[nodiscard]] const CharMap& map() const { return map_; }

 private:
  [[nodiscard]] AlignedText cleaned(const AlignedText& text) const;
  [[nodiscard]] bool stays(char32_t c) const;

  const BertNormalizerOptions options_;
  CharMap map_;
};

}  // namespace latebind::embedding
