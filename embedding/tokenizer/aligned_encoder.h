// AlignedEncoder: text to tokens with their offsets, one part after the other, for any parts.
//
// The same ids as those of the other encoders, in more time and memory: each byte of the normalized text is kept with
// the character that it stands for. Immutable, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "embedding/tokenizer/added_tokens.h"
#include "embedding/tokenizer/token_offsets.h"
#include "embedding/tokenizer/tokenizer_parts.h"

namespace latebind::embedding {

struct AlignedToken {
  std::int32_t id = 0;
  TokenOffsets offsets{};
  // Characters of white space at either end of what the reference takes for its text; counted where a post-processor
  // asks.
  std::size_t spaces_before = 0;
  std::size_t spaces_behind = 0;
};

class AlignedEncoder {
 public:
  // All must outlive it. `normalized_tokens` are looked for in the normalized text, `raw_tokens` in the text as it is.
  AlignedEncoder(const TokenizerParts& parts, const AddedTokenMatcher& raw_tokens,
                 const AddedTokenMatcher& normalized_tokens)
      : parts_(parts), raw_tokens_(raw_tokens), normalized_tokens_(normalized_tokens) {}

  // The tokens of `text`, which must be well-formed UTF-8, without special ones; work ends once there are `tokens_end`
  // of them or more.
  [[nodiscard]] std::vector<AlignedToken> encode(std::string_view text, std::size_t tokens_end) const;

  // What the post-processor does to the offsets of the tokens that are left of `text`.
  void trim(std::string_view text, std::vector<AlignedToken>& tokens) const;

 private:
  class Walk;

  const TokenizerParts& parts_;
  const AddedTokenMatcher& raw_tokens_;
  const AddedTokenMatcher& normalized_tokens_;
};

}  // namespace latebind::embedding
