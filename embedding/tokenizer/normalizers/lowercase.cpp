// Lowercase: converts every code point to lower case, without regard to its neighbours.
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

class Lowercase final : public Normalizer {
 public:
  void rewrite(TextRewriter& text) const override {
    while (!text.at_end()) {
      for (const char32_t low : unicode::lower_case(text.read()))
        text.write(low);
    }
  }
  AlignedText align(const AlignedText& text) const override {
    AlignedText lowered;
    for_each_char(text, [&lowered](char32_t c, std::size_t origin) {
      for (const char32_t low : unicode::lower_case(c))
        lowered.append(low, origin);
    });
    return lowered;
  }
};

}  // namespace

core::Result<NormalizerPtr> read_lowercase(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return NormalizerPtr(std::make_unique<Lowercase>());
}

}  // namespace latebind::embedding
