// Sequence: applies several decoders, one after the other.
#include <vector>

#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

class DecoderSequence final : public Decoder {
 public:
  explicit DecoderSequence(std::vector<DecoderPtr> parts) : parts_(std::move(parts)) {}

  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (const DecoderPtr& part : parts_)
      tokens = part->decode(std::move(tokens));
    return tokens;
  }

 private:
  const std::vector<DecoderPtr> parts_;
};

}  // namespace

core::Result<DecoderPtr> read_decoder_sequence(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(auto parts, read_sequence(view, "decoders", kDecoders));
  return DecoderPtr(std::make_unique<DecoderSequence>(std::move(parts)));
}

}  // namespace latebind::embedding
