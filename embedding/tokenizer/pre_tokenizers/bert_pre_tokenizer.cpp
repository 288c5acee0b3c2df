#include "embedding/tokenizer/pre_tokenizers/bert_pre_tokenizer.h"

#include "embedding/tokenizer/char_map.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {

bool BertPreTokenizer::split(std::string_view text, WordSink& sink) const {
  const CharMap& map = CharMap::unchanged();
  return cut_words(text, sink, [&map](char32_t c) {
    switch (map.lookup(c).kind()) {
      case CharKind::kSpace:
        return CutKind::kGone;
      case CharKind::kPunctuation:
        return CutKind::kAlone;
      default:
        return CutKind::kInside;
    }
  });
}

core::Result<PreTokenizerPtr> read_bert_pre_tokenizer(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return PreTokenizerPtr(std::make_unique<BertPreTokenizer>());
}

}  // namespace latebind::embedding
