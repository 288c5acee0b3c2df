// WordPiece: one word to ids, by the longest token that fits, from left to right.
//
// Source: Wu et al. 2016, "Google's Neural Machine Translation System"; the greedy form is BERT's. Immutable after
// creation, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

struct WordPieceOptions {
  std::string unk_token;
  std::string continuing_subword_prefix;
  std::size_t max_input_chars_per_word = 100;
};

class WordPiece {
 public:
  static constexpr std::size_t kMaxInputCharsLimit = 10'000;

  // kInvalidModel when the vocabulary lacks the unknown token. The vocabulary must be finished.
  static core::Result<WordPiece> create(Vocabulary vocabulary, WordPieceOptions options);

  // Appends the ids of a word: one or more, or the unknown token alone when some part of it is in no token. The word
  // has at least one and at most max_input_chars_per_word code points; a longer one is the unknown token.
  void tokenize(std::string_view word, std::vector<std::int32_t>& ids) const;

  [[nodiscard]] std::int32_t unknown_id() const { return unknown_id_; }
  [[nodiscard]] const WordPieceOptions& options() const { return options_; }
  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  WordPiece(Vocabulary vocabulary, WordPieceOptions options, std::int32_t unknown_id);

  Vocabulary vocabulary_;
  WordPieceOptions options_;
  std::int32_t unknown_id_;
  std::uint64_t continuing_start_;  // the hash state of the prefix
  std::size_t longest_initial_;
  std::size_t longest_continuing_;
};

}  // namespace latebind::embedding
