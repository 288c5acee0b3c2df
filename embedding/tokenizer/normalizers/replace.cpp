// Replace: replaces every occurrence of a pattern by another text.
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/text_replacement.h"

namespace latebind::embedding {
namespace {

class Replace final : public Normalizer {
 public:
  explicit Replace(TextReplacement replacement) : replacement_(std::move(replacement)) {}

  std::size_t growth() const override { return replacement_.growth(); }
  bool tracks_origin() const override { return true; }
  void rewrite(TextRewriter& text) const override {
    const std::string_view rest = text.read_rest();
    text.set_origin(replacement_.origin_after(rest, text.origin()));
    text.write(replacement_.apply(rest));
  }
  AlignedText align(const AlignedText& text) const override { return replacement_.apply(text); }

 private:
  const TextReplacement replacement_;
};

}  // namespace

core::Result<NormalizerPtr> read_replace(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(TextReplacement replacement, TextReplacement::read(view));
  return NormalizerPtr(std::make_unique<Replace>(std::move(replacement)));
}

}  // namespace latebind::embedding
