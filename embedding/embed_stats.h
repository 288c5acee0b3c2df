// EmbedStats: statistics of embedded texts. A value.
#pragma once

#include <cstdint>

namespace latebind::embedding {

struct EmbedStats {
  std::uint64_t texts = 0;
  std::uint64_t tokens = 0;         // without padding, with special tokens, after truncation
  std::uint64_t padded_tokens = 0;  // computed tokens, padding included
  std::uint64_t truncated_texts = 0;
  std::uint64_t fallback_texts = 0;  // computed by a fallback
  double seconds = 0;                // wall time of the call, or of the stream

  // The share of padding in the computed tokens, from 0 to 1.
  [[nodiscard]] double padding_ratio() const {
    if (padded_tokens == 0) return 0;
    return static_cast<double>(padded_tokens - tokens) / static_cast<double>(padded_tokens);
  }

  EmbedStats& operator+=(const EmbedStats& other) {
    texts += other.texts;
    tokens += other.tokens;
    padded_tokens += other.padded_tokens;
    truncated_texts += other.truncated_texts;
    fallback_texts += other.fallback_texts;
    seconds += other.seconds;
    return *this;
  }
};

}  // namespace latebind::embedding
