// StagedEncoder: applies one part after the other and stores the normalized text in between. It supports all parts.
// Immutable, any thread.
#pragma once

#include <utility>

#include "embedding/tokenizer/added_tokens.h"
#include "embedding/tokenizer/text_encoder.h"
#include "embedding/tokenizer/tokenizer_parts.h"

namespace latebind::embedding {

class StagedEncoder final : public TextEncoder {
 public:
  // The parts must outlive the encoder. `added_tokens` are those that are searched in the normalized text.
  StagedEncoder(const TokenizerParts& parts, AddedTokenMatcher added_tokens)
      : parts_(parts), added_tokens_(std::move(added_tokens)) {}

  bool encode(std::string_view text, bool is_first, std::size_t ids_end, std::vector<std::int32_t>& ids) const override;

  [[nodiscard]] const AddedTokenMatcher& added_tokens() const { return added_tokens_; }

 private:
  const TokenizerParts& parts_;
  AddedTokenMatcher added_tokens_;
};

}  // namespace latebind::embedding
