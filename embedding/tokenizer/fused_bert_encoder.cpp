#include "embedding/tokenizer/fused_bert_encoder.h"

#include "embedding/tokenizer/fused_words.h"
#include "embedding/tokenizer/normalizers/bert_normalizer.h"
#include "embedding/tokenizer/pre_tokenizers/bert_pre_tokenizer.h"

namespace latebind::embedding {

std::unique_ptr<const FusedBertEncoder> FusedBertEncoder::create(const TokenizerParts& parts) {
  const auto* normalizer = dynamic_cast<const BertNormalizer*>(parts.normalizer.get());
  const auto* wordpiece = dynamic_cast<const WordPiece*>(parts.model.get());
  const bool has_bert_words = dynamic_cast<const BertPreTokenizer*>(parts.pre_tokenizer.get()) != nullptr;
  if (wordpiece == nullptr || !has_bert_words || (parts.normalizer != nullptr && normalizer == nullptr)) return nullptr;
  const CharMap& map = normalizer != nullptr ? normalizer->map() : CharMap::unchanged();
  return std::unique_ptr<const FusedBertEncoder>(new FusedBertEncoder(map, *wordpiece));
}

bool FusedBertEncoder::encode(std::string_view text, bool /*is_first*/, std::size_t ids_end,
                              std::vector<std::int32_t>& ids) const {
  WordBuffer word(wordpiece_.options().max_input_chars_per_word);
  return for_each_word(text, map_, word, [&](std::string_view found, bool too_long) {
    if (too_long) {
      ids.push_back(wordpiece_.unknown_id());
    } else {
      wordpiece_.append_ids(found, ids);
    }
    return ids.size() < ids_end;
  });
}

}  // namespace latebind::embedding
