#include "embedding/tokenizer/normalizers/bert_normalizer.h"

#include <limits>

#include "embedding/tokenizer/normalized_walk.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {

void BertNormalizer::rewrite(TextRewriter& text) const {
  struct Writer {
    TextRewriter& text;
    bool visit(CharKind kind, char32_t c) {
      const bool apart = kind == CharKind::kIdeograph;
      if (apart) text.write(U' ');
      text.write(c);
      if (apart) text.write(U' ');
      return true;
    }
  } writer{text};
  walk_normalized(text.read_rest(), map_, std::numeric_limits<std::size_t>::max(), writer);
}

core::Result<NormalizerPtr> read_bert_normalizer(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}));
  BertNormalizerOptions options;
  LB_ASSIGN_OR_RETURN(options.clean_text, view.boolean("clean_text"));
  LB_ASSIGN_OR_RETURN(options.handle_chinese_chars, view.boolean("handle_chinese_chars"));
  LB_ASSIGN_OR_RETURN(options.lowercase, view.boolean("lowercase"));
  options.strip_accents = options.lowercase;
  const nlohmann::json* strip_accents = view.find("strip_accents");
  if (strip_accents != nullptr && !strip_accents->is_null()) {
    LB_ASSIGN_OR_RETURN(options.strip_accents, view.boolean("strip_accents"));
  }
  return NormalizerPtr(std::make_unique<BertNormalizer>(options));
}

}  // namespace latebind::embedding
