#include "embedding/tokenizer/staged_encoder.h"

#include <string>

#include "core/text/utf8.h"

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

bool StagedEncoder::encode(std::string_view text, bool is_first, std::size_t ids_end,
                           std::vector<std::int32_t>& ids) const {
  if (text.empty()) return true;
  const char* second = text.data();
  core::decode_utf8(second);
  std::size_t origin = is_first ? static_cast<std::size_t>(second - text.data()) : 0;
  std::string normalized;
  if (parts_.normalizer != nullptr) {
    normalized = parts_.normalizer->normalize(text, origin);
    text = normalized;
  }
  ModelSink sink(*parts_.model, ids_end, ids);
  const auto split = [&](std::string_view words) {
    if (parts_.pre_tokenizer == nullptr) return sink.word({words, 0, words.size()});
    const auto begin = static_cast<std::size_t>(words.data() - text.data());
    return parts_.pre_tokenizer->split_from(words, origin > begin ? origin - begin : 0, sink);
  };
  AddedTokenSplitter splitter(added_tokens_, text);
  AddedTokenSplitter::Piece piece;
  while (splitter.next(piece)) {
    if (piece.token != nullptr) {
      ids.push_back(piece.token->id);
      if (ids.size() >= ids_end) return false;
    } else if (!split(piece.text)) {
      return false;
    }
  }
  return true;
}

}  // namespace latebind::embedding
