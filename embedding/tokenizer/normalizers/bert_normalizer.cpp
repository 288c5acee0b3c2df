#include "embedding/tokenizer/normalizers/bert_normalizer.h"

#include <limits>

#include "embedding/tokenizer/normalized_walk.h"
#include "embedding/tokenizer/normalizers/unicode_forms.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/unicode.h"

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

// Whether no option changes c.
bool BertNormalizer::stays(char32_t c) const {
  const CharMap::Entry entry = map_.lookup(c);
  return entry.kind() < CharKind::kIdeograph && entry.code_point() == c;
}

// One step after the other like the reference, since each step sees the alignment of the previous one.
AlignedText BertNormalizer::align(const AlignedText& text) const {
  AlignedText current = cleaned(text);
  if (options_.strip_accents) current = decompose_aligned(current);
  AlignedText normalized;
  for_each_char(current, [&](char32_t c, std::size_t origin) {
    if (stays(c)) return normalized.append(c, origin);
    if (options_.strip_accents && (unicode::properties(c) & unicode::kNonspacing) != 0) return;
    if (!options_.lowercase) return normalized.append(c, origin);
    for (const char32_t low : unicode::lower_case(c))
      normalized.append(low, origin);
  });
  return normalized;
}

// Removes control characters and separates ideographs.
AlignedText BertNormalizer::cleaned(const AlignedText& text) const {
  AlignedText clean;
  for_each_char(text, [&](char32_t c, std::size_t origin) {
    if (stays(c)) return clean.append(c, origin);
    if (options_.clean_text) {
      const std::uint8_t bits = unicode::properties(c);
      if (CharMap::is_dropped(c, bits)) return;
      if ((bits & unicode::kWhitespace) != 0) c = U' ';
    }
    const bool is_apart = options_.handle_chinese_chars && unicode::is_chinese(c);
    if (is_apart) clean.append(U' ', origin);
    clean.append(c, origin);
    if (is_apart) clean.append(U' ', origin);
  });
  return clean;
}

core::Result<NormalizerPtr> read_bert_normalizer(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}));
  BertNormalizerOptions options;
  LB_ASSIGN_OR_RETURN(options.clean_text, view.boolean("clean_text"));
  LB_ASSIGN_OR_RETURN(options.handle_chinese_chars, view.boolean("handle_chinese_chars"));
  LB_ASSIGN_OR_RETURN(options.lowercase, view.boolean("lowercase"));
  options.strip_accents = options.lowercase;
  const core::Json* strip_accents = view.find("strip_accents");
  if (strip_accents != nullptr && !strip_accents->is_null()) {
    LB_ASSIGN_OR_RETURN(options.strip_accents, view.boolean("strip_accents"));
  }
  return NormalizerPtr(std::make_unique<BertNormalizer>(options));
}

}  // namespace latebind::embedding
