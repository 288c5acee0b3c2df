#include "embedding/architectures/qwen3.h"

#include <utility>

#include "embedding/architectures/decoder.h"
#include "embedding/architectures/qwen2.h"
#include "embedding/architectures/rotary.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_qwen3(const Json& config, const path& file) {
  PlainDecoder qwen;
  LB_ASSIGN_OR_RETURN(qwen.config, read_decoder(config, file));
  LB_ASSIGN_OR_RETURN(qwen.config.causal, read_causal(config, file));
  qwen.config.has_head_norms = true;
  EncoderSizes& sizes = qwen.config.sizes;
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, "silu"));
  LB_ASSIGN_OR_RETURN(qwen.rotary, read_rotary(config, file, rotary_heads_of(sizes), 10000));
  LB_ASSIGN_OR_RETURN(qwen.windows, read_qwen_windows(config, file, qwen.config));
  return make_plain_decoder(std::move(qwen));
}

}  // namespace latebind::embedding
