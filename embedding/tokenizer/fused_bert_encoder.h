// FusedBertEncoder: BertNormalizer, BertPreTokenizer and WordPiece in one walk over the text.
//
// It gives the same ids as the parts one after the other, without storing the normalized text. The additional memory is
// one word, whatever the length of the text, and the walk ends with the last id needed. Immutable, any thread.
#pragma once

#include <memory>

#include "embedding/tokenizer/char_map.h"
#include "embedding/tokenizer/models/wordpiece.h"
#include "embedding/tokenizer/text_encoder.h"
#include "embedding/tokenizer/tokenizer_parts.h"

namespace latebind::embedding {

class FusedBertEncoder final : public TextEncoder {
 public:
  // Returns null for any other parts. The parts must outlive the encoder.
  static std::unique_ptr<const FusedBertEncoder> create(const TokenizerParts& parts);

  bool encode(std::string_view text, bool is_first, std::size_t ids_end, std::vector<std::int32_t>& ids) const override;

 private:
  FusedBertEncoder(const CharMap& map, const WordPiece& wordpiece) : map_(map), wordpiece_(wordpiece) {}

  const CharMap& map_;
  const WordPiece& wordpiece_;
};

}  // namespace latebind::embedding
