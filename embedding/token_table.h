// TokenTable: the token ids of many texts, one after the other.
//
// A plain container, kept and cleared rather than remade, so that a steady state allocates nothing. One thread at a
// time while it is filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

// How texts become ids: constant for an embedder.
struct TokenLimits {
  std::size_t max_tokens = 0;
  // Ids must be below this, the rows of the model's embedding table; 0: unknown, or no id can be above it.
  std::size_t vocabulary_size = 0;
};

class TokenTable {
 public:
  void clear();
  [[nodiscard]] std::size_t size() const { return lengths_.size(); }
  // Tokens of each text.
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  [[nodiscard]] std::span<const std::int32_t> ids(std::size_t text) const {
    return {ids_.data() + begins_[text], lengths_[text]};
  }
  // Texts of which something was cut off.
  [[nodiscard]] std::uint64_t truncated() const { return truncated_; }

  // Appends one text. On error the table is as it was.
  [[nodiscard]] core::Status add(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text);
  // Appends all texts of `other`.
  void append(const TokenTable& other);

 private:
  std::vector<std::int32_t> ids_;
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> lengths_;
  std::uint64_t truncated_ = 0;
};

}  // namespace latebind::embedding
