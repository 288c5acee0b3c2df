// WordPiece: splits a word into ids from left to right, always taking the longest token that matches.
//
// Source: Wu et al. 2016, "Google's Neural Machine Translation System"; the greedy form is BERT's. Immutable after
// creation, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/token_model.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

struct WordPieceOptions {
  std::string unk_token;
  std::string continuing_subword_prefix;
  std::size_t max_input_chars_per_word = 100;
};

class WordPiece final : public TokenModel {
 public:
  static constexpr std::size_t kMaxInputCharsLimit = 10'000;

  // Returns kInvalidModel if the vocabulary lacks the unknown token. The vocabulary must be finished.
  static core::Result<std::unique_ptr<const WordPiece>> create(Vocabulary vocabulary, WordPieceOptions options);

  // Gives only the unknown token if a part of the word is in no token, or if the word has more than
  // max_input_chars_per_word code points.
  void tokenize(std::string_view word, std::vector<Token>& tokens) const override;
  // Like tokenize(), for callers that need only ids and have counted the code points.
  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const;

  [[nodiscard]] std::int32_t unknown_id() const { return unknown_id_; }
  [[nodiscard]] const WordPieceOptions& options() const { return options_; }

 private:
  WordPiece(Vocabulary vocabulary, WordPieceOptions options, std::int32_t unknown_id);
  template <class Out>
  void cut(std::string_view word, std::vector<Out>& out) const;

  WordPieceOptions options_;
  std::int32_t unknown_id_;
  std::uint64_t continuing_start_;  // the hash state of the prefix
  std::size_t longest_initial_;
  std::size_t longest_continuing_;
};

}  // namespace latebind::embedding
