// TokenTable: the token ids of many texts, one after the other.
//
// A plain container, cleared rather than recreated, so that a steady state allocates no memory. One thread at a time
// may fill it; any thread may read it afterwards.
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

class PairFrame;

// Which tokens have a vector, for models with a vector for each token.
struct TokenFilter {
  std::vector<std::int32_t> left_out{};  // ascending
  std::vector<std::int32_t> only{};      // ascending; empty for all others

  [[nodiscard]] bool keeps(std::int32_t id) const {
    return !std::ranges::binary_search(left_out, id) && (only.empty() || std::ranges::binary_search(only, id));
  }
};

// The tokens that fill up a shorter text.
struct Filling {
  std::size_t length = 0;  // the number of tokens after filling
  std::int32_t id = 0;
  bool is_attended = false;  // the text's tokens attend to these
  bool is_kept = true;       // the filling tokens have vectors too
};

// How texts become ids. Constant for a call.
struct TokenLimits {
  std::size_t max_tokens = 0;
  // Ids must be below this number of rows of the model's embedding table; 0 if it is unknown or no id can exceed it.
  std::size_t vocabulary_size = 0;
  // Return kTextTooLong for a longer text instead of cutting it.
  bool refuse_longer = false;
  // Cut a longer text at its beginning instead of its end.
  bool keep_end = false;
  // The tokens of the second text of a pair have type 1.
  bool token_types = false;
  // The prompt before every text and before the first text of a pair, but not before ids; UTF-8.
  std::string prompt{};
  // Joins two texts to one row; the prompt is its instruction. Null if the tokenizer joins them.
  std::shared_ptr<const PairFrame> frame{};
  // The number of tokens at the front of a text with a prompt that pooling leaves out.
  std::size_t prompt_tokens = 0;
  std::optional<Filling> filling = std::nullopt;
  // Null if all tokens have a vector.
  std::shared_ptr<const TokenFilter> filter{};
  std::uint32_t task = 0;  // the number of the task; 0 for none
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
  // The tokens of all texts together, and of the texts before this one.
  [[nodiscard]] std::size_t token_count() const { return ids_.size(); }
  [[nodiscard]] std::size_t tokens_before(std::size_t text) const { return begins_[text]; }
  // The number of tokens of each text.
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  [[nodiscard]] std::span<const std::int32_t> ids(std::size_t text) const {
    return {ids_.data() + begins_[text], lengths_[text]};
  }
  // The first token of a pair with type 1; the number of tokens if all have type 0.
  [[nodiscard]] std::size_t type_one_from(std::size_t text) const {
    return type_one_from_.empty() ? lengths_[text] : type_one_from_[text];
  }
  // The first token that is pooled.
  [[nodiscard]] std::size_t pooled_from(std::size_t text) const {
    return text < pooled_from_.size() ? pooled_from_[text] : 0;
  }
  // Returns the number of the text's task; 0 for none.
  [[nodiscard]] std::uint32_t task(std::size_t text) const { return text < tasks_.size() ? tasks_[text] : 0; }
  // The first token of a text to which no token attends; the number of tokens if all are attended.
  [[nodiscard]] std::size_t unattended_from(std::size_t text) const {
    return unattended_from_.empty() ? lengths_[text] : unattended_from_[text];
  }
  // 1 for each token of a text that has a vector, else 0; empty if all have one.
  [[nodiscard]] std::span<const std::uint8_t> kept(std::size_t text) const {
    if (kept_.empty()) return {};
    return {kept_.data() + begins_[text], lengths_[text]};
  }
  // The tokens with a vector: of all texts together, of the texts before this one, and of each text.
  [[nodiscard]] std::size_t vector_count() const { return kept_.empty() ? ids_.size() : vector_count_; }
  [[nodiscard]] std::size_t vectors_before(std::size_t text) const {
    return kept_.empty() ? begins_[text] : vector_begins_[text];
  }
  [[nodiscard]] std::span<const std::uint32_t> vector_counts() const {
    return kept_.empty() ? lengths_ : vector_counts_;
  }
  // The number of texts that were cut, and whether this one was.
  [[nodiscard]] std::uint64_t truncated() const { return truncated_.size(); }
  [[nodiscard]] bool is_truncated(std::size_t text) const { return std::ranges::binary_search(truncated_, text); }

  // Appends one text, with the prompt before it. Returns kInvalidArgument if the limit leaves no token of the text,
  // kTextTooLong if the text must not be cut, kInvalidModel if the tokenizer gives an id that the model does not know,
  // and the errors of Tokenizer::encode(). On error the table is unchanged.
  [[nodiscard]] core::Status add(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text);
  // Appends a pair, which counts as one text. A table holds either texts or pairs. The errors are the same.
  [[nodiscard]] core::Status add(const Tokenizer& tokenizer, const TokenLimits& limits, const TextPair& pair);
  // Appends a text whose ids are known, special tokens included. Keeps only the first ids, or the last ones, of a text
  // that is too long. Returns kInvalidArgument for unknown ids and for a text without ids, and kTextTooLong if the text
  // must not be cut. If `limits` name no vocabulary size, the tokenizer's applies.
  [[nodiscard]] core::Status add(std::span<const std::int32_t> ids, const TokenLimits& limits);
  [[nodiscard]] core::Status add(const Tokenizer& tokenizer, const TokenLimits& limits,
                                 std::span<const std::int32_t> ids);
  // Appends all texts of `other`.
  void append(const TokenTable& other);

 private:
  // Adds the row of two texts, joined by limits.frame.
  [[nodiscard]] core::Status add_framed(const Tokenizer& tokenizer, const TokenLimits& limits, const TextPair& pair);
  // Returns kInvalidModel if the model does not know an id from `begin` on.
  [[nodiscard]] core::Status check(std::size_t begin, const TokenLimits& limits) const;
  [[nodiscard]] core::Status add_ids(std::span<const std::int32_t> ids, const TokenLimits& limits,
                                     std::size_t vocabulary_size);
  // add() without a prompt.
  [[nodiscard]] core::Status add_alone(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text,
                                       std::size_t prompt_tokens = 0);
  // Fills up the ids from `begin` on and closes them as a text.
  [[nodiscard]] core::Status finish(std::size_t begin, bool is_cut, const TokenLimits& limits,
                                    std::size_t pooled_from = 0);
  // Closes all ids from `begin` on as a text.
  void close(std::size_t begin, bool is_cut, std::size_t pooled_from = 0);

  std::vector<std::int32_t> ids_;
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> type_one_from_;    // of pairs
  std::vector<std::uint32_t> pooled_from_;      // up to the last text with such a prompt
  std::vector<std::uint32_t> tasks_;            // up to the last text with a task
  std::vector<std::uint32_t> unattended_from_;  // of texts that may be filled up
  // Filled only if some tokens have no vector.
  std::vector<std::uint8_t> kept_;
  std::vector<std::size_t> vector_begins_;
  std::vector<std::uint32_t> vector_counts_;
  std::size_t vector_count_ = 0;
  std::vector<std::size_t> truncated_;  // ascending
};

// Returns the first id that a vocabulary of this size does not have, or null if it has all of them. Size 0 means
// unlimited.
[[nodiscard]] const std::int32_t* unknown_id(std::span<const std::int32_t> ids, std::size_t vocabulary_size);

}  // namespace latebind::embedding
