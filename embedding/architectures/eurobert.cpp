#include "embedding/architectures/eurobert.h"

#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/decoder.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_eurobert(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(expect(config, file, "is_causal", false));
  LB_ASSIGN_OR_RETURN(PlainDecoder eurobert, read_plain_decoder(config, file, HeadKeys::kBoth));
  eurobert.config.causal = false;
  EncoderSizes& sizes = eurobert.config.sizes;
  sizes.epsilon = 1e-5F;
  LB_RETURN_IF_ERROR(read_epsilon(config, "rms_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(eurobert.config.mlp_bias,
                      core::read_bool(config, "mlp_bias", false, platform::path_to_utf8(file)));
  return make_plain_decoder(std::move(eurobert));
}

}  // namespace latebind::embedding
