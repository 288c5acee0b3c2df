// WordLevel: each word is one token, or the unknown token.
#include "embedding/tokenizer/models/model_vocabulary.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

class WordLevel final : public TokenModel {
 public:
  WordLevel(Vocabulary vocabulary, std::int32_t unknown_id)
      : TokenModel(std::move(vocabulary)), unknown_id_(unknown_id) {}

  void tokenize(std::string_view word, std::vector<Token>& tokens) const override {
    tokens.push_back({vocabulary().find(word).value_or(unknown_id_), word.size()});
  }

 private:
  const std::int32_t unknown_id_;
};

}  // namespace

core::Result<TokenModelPtr> read_word_level(const JsonView& view, ModelLists lists) {
  Vocabulary& vocabulary = lists.vocabulary;
  LB_RETURN_IF_ERROR(view.only_keys({"type", "unk_token", "vocab"}));
  LB_ASSIGN_OR_RETURN(const std::string unk_token, view.string("unk_token"));
  LB_RETURN_IF_ERROR(finish_vocabulary(view, VocabularyKind::kIds, lists));
  LB_ASSIGN_OR_RETURN(const std::int32_t unknown, find_unknown(vocabulary, unk_token));
  return TokenModelPtr(std::make_unique<WordLevel>(std::move(vocabulary), unknown));
}

}  // namespace latebind::embedding
