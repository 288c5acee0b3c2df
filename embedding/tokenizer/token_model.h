// TokenModel: the third part of a tokenizer, which splits a word into tokens; it owns the vocabulary.
//
// One file for each in models/; part_table.h has them by name. Immutable, any thread.
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

// What a file's model has in great number, and is not in the tree of its JSON.
struct ModelLists {
  Vocabulary vocabulary;  // the entries of "vocab"
  // What came of Vocabulary::finish(); nothing: that is still to be done.
  std::optional<core::Status> finished = std::nullopt;
  // Nothing: the model has no array "merges".
  std::optional<MergeList> merges = std::nullopt;
  // Of the vocabulary's entries, by id: there where "vocab" is an array, not an object.
  std::optional<platform::LargeVector<double>> scores = std::nullopt;
};

struct Token {
  std::int32_t id;
  // The bytes of the word up to here are in this token and those before it. Tokens that end at the same place stand for
  // the same bytes.
  std::size_t end;
};

class TokenModel {
 public:
  // The vocabulary must be finished.
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;

  // Appends the tokens of a word, one or more; the last one ends where the word ends. Only a model without an unknown
  // token leaves out what it does not know, and counts ends without it.
  virtual void tokenize(std::string_view word, std::vector<Token>& tokens) const = 0;

  // What keeps it from saying which bytes its tokens have, as the reference does; empty: nothing.
  [[nodiscard]] virtual std::string_view without_offsets() const { return {}; }
  // The text that the reference says a token has, which stands for `bytes` of a word.
  [[nodiscard]] virtual std::string_view text_of(std::int32_t id, std::string_view bytes) const {
    return vocabulary_.token(id).value_or(bytes);
  }

  // Ids by tokens and tokens by ids.
  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

using TokenModelPtr = std::unique_ptr<const TokenModel>;

}  // namespace latebind::embedding
