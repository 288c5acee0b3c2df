#include "embedding/architectures/llama.h"

#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/decoder.h"
#include "embedding/architectures/rotary.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_llama(const Json& config, const path& file) {
  PlainDecoder llama;
  LB_ASSIGN_OR_RETURN(llama.config, read_decoder(config, file, HeadKeys::kBoth));
  LB_ASSIGN_OR_RETURN(llama.config.causal, read_causal(config, file));
  EncoderSizes& sizes = llama.config.sizes;
  LB_ASSIGN_OR_RETURN(llama.config.mlp_bias, core::read_bool(config, "mlp_bias", false, platform::path_to_utf8(file)));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, "silu"));
  LB_ASSIGN_OR_RETURN(llama.rotary, read_rotary(config, file, rotary_heads_of(sizes), 10000));
  return make_plain_decoder(std::move(llama));
}

}  // namespace latebind::embedding
