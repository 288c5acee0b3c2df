#include "embedding/tokenizer/staged_encoder.h"

#include <string>

namespace latebind::embedding {
namespace {

// Passes each word to the model.
class ModelSink final : public WordSink {
 public:
  ModelSink(const TokenModel& model, std::size_t ids_end, std::vector<std::int32_t>& ids)
      : model_(model), ids_end_(ids_end), ids_(ids) {}

  bool word(const Word& word) override {
    tokens_.clear();
    model_.tokenize(word.text, tokens_);
    for (const Token& token : tokens_)
      ids_.push_back(token.id);
    return ids_.size() < ids_end_;
  }

 private:
  const TokenModel& model_;
  const std::size_t ids_end_;
  std::vector<std::int32_t>& ids_;
  std::vector<Token> tokens_;
};

}  // namespace

bool StagedEncoder::encode(std::string_view text, std::size_t ids_end, std::vector<std::int32_t>& ids) const {
  std::string normalized;
  if (parts_.normalizer != nullptr) {
    normalized = parts_.normalizer->normalize(text);
    text = normalized;
  }
  ModelSink sink(*parts_.model, ids_end, ids);
  const auto split = [this](std::string_view words, WordSink& to) {
    return parts_.pre_tokenizer != nullptr ? parts_.pre_tokenizer->split(words, to) : to.word({words, 0, words.size()});
  };
  AddedTokenSplitter splitter(added_tokens_, text);
  AddedTokenSplitter::Piece piece;
  while (splitter.next(piece)) {
    if (piece.token != nullptr) {
      ids.push_back(piece.token->id);
      if (ids.size() >= ids_end) return false;
    } else if (!split(piece.text, sink)) {
      return false;
    }
  }
  return true;
}

}  // namespace latebind::embedding
