// Replace: replaces every occurrence of a pattern in a token by another text.
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/text_replacement.h"

namespace latebind::embedding {
namespace {

class ReplaceDecoder final : public Decoder {
 public:
  explicit ReplaceDecoder(TextReplacement replacement) : replacement_(std::move(replacement)) {}

  std::size_t growth() const override { return replacement_.growth(); }
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::string& token : tokens)
      token = replacement_.apply(token);
    return tokens;
  }

 private:
  const TextReplacement replacement_;
};

}  // namespace

core::Result<DecoderPtr> read_replace_decoder(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(TextReplacement replacement, TextReplacement::read(view));
  return DecoderPtr(std::make_unique<ReplaceDecoder>(std::move(replacement)));
}

}  // namespace latebind::embedding
