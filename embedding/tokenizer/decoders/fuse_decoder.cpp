// Fuse: joins all tokens into one, for later decoders.
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

class FuseDecoder final : public Decoder {
 public:
  std::size_t growth() const override { return 1; }
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    std::string all;
    for (const std::string& token : tokens)
      all.append(token);
    tokens.assign(1, std::move(all));
    return tokens;
  }
};

}  // namespace

core::Result<DecoderPtr> read_fuse_decoder(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return DecoderPtr(std::make_unique<FuseDecoder>());
}

}  // namespace latebind::embedding
