// Metaspace: the character that stands for spaces becomes one again, and is left out of the first token where texts get
// one in front.
#include "embedding/tokenizer/metaspace_options.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

class MetaspaceDecoder final : public Decoder {
 public:
  explicit MetaspaceDecoder(MetaspaceOptions options) : options_(std::move(options)) {}

  std::size_t growth() const override { return 1; }
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    const std::string& mark = options_.replacement;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      const std::string_view space = i == 0 && options_.prepends != Prepends::kNever ? "" : " ";
      for (std::size_t at = token.find(mark); at != std::string::npos; at = token.find(mark, at + space.size()))
        token.replace(at, mark.size(), space);
    }
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
