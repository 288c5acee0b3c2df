#include "embedding/architectures/qwen3.h"

#include <utility>

#include "embedding/architectures/decoder.h"
#include "embedding/architectures/qwen2.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

namespace {

Result<std::shared_ptr<const Network>> read_either(const Json& config, const path& file, bool causal) {
  LB_ASSIGN_OR_RETURN(PlainDecoder qwen, read_plain_decoder(config, file));
  qwen.config.causal = causal;
  qwen.config.has_head_norms = true;
  LB_ASSIGN_OR_RETURN(qwen.windows, read_qwen_windows(config, file, qwen.config));
  return make_plain_decoder(std::move(qwen));
}

}  // namespace

Result<std::shared_ptr<const Network>> read_qwen3(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(const bool causal, read_causal(config, file));
  return read_either(config, file, causal);
}

Result<std::shared_ptr<const Network>> read_bidirectional_qwen3(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(expect(config, file, "use_bidirectional_attention", Json(true)));
  LB_RETURN_IF_ERROR(expect(config, file, "is_causal", Json(false)));
  return read_either(config, file, false);
}

}  // namespace latebind::embedding
