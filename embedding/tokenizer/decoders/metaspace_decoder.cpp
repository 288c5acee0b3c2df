// Metaspace: turns the character that represents spaces back into a space, and removes it from the first token if texts
// get one in front.
#include "embedding/tokenizer/metaspace_options.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/text_replacement.h"

namespace latebind::embedding {
namespace {

class MetaspaceDecoder final : public Decoder {
 public:
  explicit MetaspaceDecoder(MetaspaceOptions options) : options_(std::move(options)) {}

  std::size_t growth() const override { return 1; }
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replace_all(tokens[i], options_.replacement, i == 0 && options_.prepends != Prepends::kNever ? "" : " ");
    return tokens;
  }

 private:
  const MetaspaceOptions options_;
};

}  // namespace

core::Result<DecoderPtr> read_metaspace_decoder(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(MetaspaceOptions options, read_metaspace_options(view));
  return DecoderPtr(std::make_unique<MetaspaceDecoder>(std::move(options)));
}

}  // namespace latebind::embedding
