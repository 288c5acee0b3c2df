// AlignedEncoder: text to tokens with offsets, applying one part after the other. It supports all parts.
//
// It gives the same ids as the other encoders, in more time and memory, since it stores for each byte of the normalized
// text the character that it represents. Immutable, any thread.
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
  // Characters of white space at both ends of the token's text as the reference sees it; counted only for
  // post-processors that need them.
  std::size_t spaces_before = 0;
  std::size_t spaces_after = 0;
};

class AlignedEncoder {
 public:
  // All arguments must outlive the encoder. `normalized_tokens` are searched in the normalized text, `raw_tokens` in
  // the original one.
  AlignedEncoder(const TokenizerParts& parts, const AddedTokenMatcher& raw_tokens,
                 const AddedTokenMatcher& normalized_tokens)
      : parts_(parts), raw_tokens_(raw_tokens), normalized_tokens_(normalized_tokens) {}

  // The tokens of `text`, which must be well-formed UTF-8, without special ones. Ends early once there are `tokens_end`
  // or more.
  [[nodiscard]] std::vector<AlignedToken> encode(std::string_view text, std::size_t tokens_end) const;

  // Applies the post-processor to the offsets of those tokens of `text` that are kept.
  void trim(std::string_view text, std::vector<AlignedToken>& tokens) const;

 private:
  class Walk;

  const TokenizerParts& parts_;
  const AddedTokenMatcher& raw_tokens_;
  const AddedTokenMatcher& normalized_tokens_;
};

}  // namespace latebind::embedding
