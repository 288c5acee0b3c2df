// TokenTable: the token ids of many texts, one after the other.
//
// A plain container, cleared rather than recreated, so that a steady state allocates nothing. One thread at a time
// while it is filled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

// Which tokens have a vector, where each is to have one.
struct TokenFilter {
  std::vector<std::int32_t> left_out{};  // rising
  std::vector<std::int32_t> only{};      // rising; empty: all others

  [[nodiscard]] bool keeps(std::int32_t id) const {
    return !std::ranges::binary_search(left_out, id) && (only.empty() || std::ranges::binary_search(only, id));
  }
};

// What a shorter text is filled up with.
struct Filling {
  std::size_t length = 0;  // to so many tokens
  std::int32_t id = 0;
  bool is_attended = false;  // the text's tokens attend to these
  bool is_kept = true;       // they have vectors, too
};

// How texts become ids: constant for an embedder.
struct TokenLimits {
  std::size_t max_tokens = 0;
  // Ids must be below this, the rows of the model's embedding table; 0: unknown, or no id can be above it.
  std::size_t vocabulary_size = 0;
  // A longer text is kTextTooLong instead of being cut.
  bool refuse_longer = false;
  // A longer text is cut at its beginning instead of its end.
  bool keep_end = false;
  // Tokens of two texts have types.
  bool token_types = false;
  // Put before every text, not before ids; UTF-8.
  std::string prompt{};
  // So many tokens at the front of a text with a prompt are left out of its pooling.
  std::size_t prompt_tokens = 0;
  std::optional<Filling> filling = std::nullopt;
  // Null: all have one.
  std::shared_ptr<const TokenFilter> filter{};
};

// Two texts that are computed as one row.
struct TextPair {
  std::string_view first;
  std::string_view second;
};

class TokenTable {
 public:
  void clear();
  [[nodiscard]] std::size_t size() const { return lengths_.size(); }
  // Of all texts together, and of those before this one.
  [[nodiscard]] std::size_t token_count() const { return ids_.size(); }
  [[nodiscard]] std::size_t tokens_before(std::size_t text) const { return begins_[text]; }
  // Tokens of each text.
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  [[nodiscard]] std::span<const std::int32_t> ids(std::size_t text) const {
    return {ids_.data() + begins_[text], lengths_[text]};
  }
  // From this token of a pair on they have type 1: as many as it has tokens, where none has.
  [[nodiscard]] std::size_t type_one_from(std::size_t text) const {
    return type_one_from_.empty() ? lengths_[text] : type_one_from_[text];
  }
  // The first token that pooling takes.
  [[nodiscard]] std::size_t pooled_from(std::size_t text) const {
    return text < pooled_from_.size() ? pooled_from_[text] : 0;
  }
  // From this token of a text on nothing attends to them: as many as it has tokens, where that is none.
  [[nodiscard]] std::size_t unattended_from(std::size_t text) const {
    return unattended_from_.empty() ? lengths_[text] : unattended_from_[text];
  }
  // Which tokens of a text have a vector, 1 or 0 for each; empty where all have.
  [[nodiscard]] std::span<const std::uint8_t> kept(std::size_t text) const {
    if (kept_.empty()) return {};
    return {kept_.data() + begins_[text], lengths_[text]};
  }
  // Tokens that have one: of all texts together, of those before this one, and of each.
  [[nodiscard]] std::size_t vector_count() const { return kept_.empty() ? ids_.size() : vector_count_; }
  [[nodiscard]] std::size_t vectors_before(std::size_t text) const {
    return kept_.empty() ? begins_[text] : vector_begins_[text];
  }
  [[nodiscard]] std::span<const std::uint32_t> vector_counts() const {
    return kept_.empty() ? lengths_ : vector_counts_;
  }
  // Texts that were cut, and whether this is one.
  [[nodiscard]] std::uint64_t truncated() const { return truncated_.size(); }
  [[nodiscard]] bool is_truncated(std::size_t text) const { return std::ranges::binary_search(truncated_, text); }

  // Appends one text, with the prompt before it. kInvalidArgument where so few tokens are taken that none of them is
  // the text's. On error the table is as it was.
  [[nodiscard]] core::Status add(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text);
  // Appends a pair, which counts as one text: a table has either kind.
  [[nodiscard]] core::Status add(const Tokenizer& tokenizer, const TokenLimits& limits, const TextPair& pair);
  // Appends a text whose ids are known, with its special tokens; only the first ids, or the last ones, where it is too
  // long. kInvalidArgument for ids that the model does not know; the tokenizer says which it is where `limits` do not.
  [[nodiscard]] core::Status add(std::span<const std::int32_t> ids, const TokenLimits& limits);
  [[nodiscard]] core::Status add(const Tokenizer& tokenizer, const TokenLimits& limits,
                                 std::span<const std::int32_t> ids);
  // Appends all texts of `other`.
  void append(const TokenTable& other);

 private:
  // Whether the model knows the ids from `begin` on.
  [[nodiscard]] core::Status check(std::size_t begin, const TokenLimits& limits) const;
  [[nodiscard]] core::Status add_ids(std::span<const std::int32_t> ids, const TokenLimits& limits,
                                     std::size_t vocabulary_size);
  // add() without a prompt.
  [[nodiscard]] core::Status add_alone(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text,
                                       std::size_t prompt_tokens = 0);
  // Fills the ids from `begin` on up, and makes them a text.
  [[nodiscard]] core::Status finish(std::size_t begin, bool is_cut, const TokenLimits& limits,
                                    std::size_t pooled_from = 0);
  // Makes all ids from `begin` on a text.
  void close(std::size_t begin, bool is_cut, std::size_t pooled_from = 0);

  std::vector<std::int32_t> ids_;
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> type_one_from_;    // of pairs
  std::vector<std::uint32_t> pooled_from_;      // up to the last text that has such a prompt
  std::vector<std::uint32_t> unattended_from_;  // of texts that may be filled up
  // Where not all tokens have a vector.
  std::vector<std::uint8_t> kept_;
  std::vector<std::size_t> vector_begins_;
  std::vector<std::uint32_t> vector_counts_;
  std::size_t vector_count_ = 0;
  std::vector<std::size_t> truncated_;  // rising
};

// The first id that a vocabulary of this size does not have; null when there is none. Size 0: any number of ids.
[[nodiscard]] const std::int32_t* unknown_id(std::span<const std::int32_t> ids, std::size_t vocabulary_size);

}  // namespace latebind::embedding
