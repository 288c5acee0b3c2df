#include "embedding/architectures/qwen3.h"

#include <utility>

#include "embedding/architectures/decoder.h"
#include "embedding/architectures/qwen2.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_qwen3(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(PlainDecoder qwen, read_plain_decoder(config, file));
  LB_ASSIGN_OR_RETURN(qwen.config.causal, read_causal(config, file));
  qwen.config.has_head_norms = true;
  LB_ASSIGN_OR_RETURN(qwen.windows, read_qwen_windows(config, file, qwen.config));
  return make_plain_decoder(std::move(qwen));
}

}  // namespace latebind::embedding
