#include "embedding/architectures/llama.h"

#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/decoder.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_llama(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(PlainDecoder llama, read_plain_decoder(config, file, HeadKeys::kBoth));
  LB_ASSIGN_OR_RETURN(llama.config.causal, read_causal(config, file));
  LB_ASSIGN_OR_RETURN(llama.config.mlp_bias, core::read_bool(config, "mlp_bias", false, platform::path_to_utf8(file)));
  return make_plain_decoder(std::move(llama));
}

}  // namespace latebind::embedding
