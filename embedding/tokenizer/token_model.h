// TokenModel: the third part of a tokenizer, which splits a word into tokens. It owns the vocabulary.
//
// Each model is a file in models/; part_table.h lists them by name. Immutable, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "embedding/tokenizer/merge_list.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

// The large lists of a model in a file, which are not in the tree of its JSON.
struct ModelLists {
  Vocabulary vocabulary;  // the entries of "vocab"
  // The result of Vocabulary::finish(); std::nullopt if it has not been called.
  std::optional<core::Status> finished = std::nullopt;
  // std::nullopt if the model has no array "merges".
  std::optional<MergeList> merges = std::nullopt;
  // The scores of the vocabulary's entries, by id; set if "vocab" is an array rather than an object.
  std::optional<platform::LargeVector<double>> scores = std::nullopt;
};

struct Token {
  std::int32_t id;
  // This token and the previous ones contain the bytes of the word up to here. Tokens that end at the same place
  // represent the same bytes.
  std::size_t end;
};

class TokenModel {
 public:
  // The vocabulary must be finished.
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;

  // Appends the tokens of a word, at least one; the last one ends at the word's end. Only a model without an unknown
  // token omits text that it does not know, and counts ends without that text.
  virtual void tokenize(std::string_view word, std::vector<Token>& tokens) const = 0;

  // The feature that prevents the model from giving offsets, as in the reference; empty if there is none.
  [[nodiscard]] virtual std::string_view without_offsets() const { return {}; }
  // The text of a token as the reference sees it; it represents `bytes` of a word.
  [[nodiscard]] virtual std::string_view text_of(std::int32_t id, std::string_view bytes) const {
    return vocabulary_.token(id).value_or(bytes);
  }

  // Maps tokens to ids and ids to tokens.
  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

using TokenModelPtr = std::unique_ptr<const TokenModel>;

}  // namespace latebind::embedding
