#include "embedding/architectures/gemma.h"

#include <cmath>
#include <utility>

#include "embedding/architectures/decoder.h"
#include "embedding/architectures/rotary.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_gemma(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(expect(config, file, "use_bidirectional_attention", false));
  PlainDecoder gemma;
  LB_ASSIGN_OR_RETURN(gemma.config, read_decoder(config, file));
  LB_ASSIGN_OR_RETURN(gemma.config.causal, read_causal(config, file));
  EncoderSizes& sizes = gemma.config.sizes;
  sizes.norm = NormKind::kRmsPlusOne;
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, "gelu_pytorch_tanh"));
  // Old files say "gelu" and mean its approximation.
  if (sizes.activation == graph::ActivationFunction::kGeluErf) sizes.activation = graph::ActivationFunction::kGeluTanh;
  gemma.word_scale = std::sqrt(static_cast<float>(sizes.hidden));
  LB_ASSIGN_OR_RETURN(gemma.rotary, read_rotary(config, file, rotary_heads_of(sizes), 10000));
  return make_plain_decoder(std::move(gemma));
}

}  // namespace latebind::embedding
