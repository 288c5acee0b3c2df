// WhitespaceSplit: words end at white space.
#include "embedding/tokenizer/char_map.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

class WhitespaceSplit final : public PreTokenizer {
 public:
  bool split(std::string_view text, WordSink& sink) const override {
    const CharMap& map = CharMap::unchanged();
    return cut_words(text, sink, [&map](char32_t c) {
      return map.lookup(c).kind() == CharKind::kSpace ? CutKind::kGone : CutKind::kInside;
    });
  }
};

}  // namespace

core::Result<PreTokenizerPtr> read_whitespace_split(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return PreTokenizerPtr(std::make_unique<WhitespaceSplit>());
}

}  // namespace latebind::embedding
