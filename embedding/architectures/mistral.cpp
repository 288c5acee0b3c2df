#include "embedding/architectures/mistral.h"

#include <utility>

#include "embedding/architectures/decoder.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_mistral(const Json& config, const path& file) {
  if (!config.contains("sliding_window")) {
    // transformers has a default, which no published file relies on.
    return invalid_file(file, "'sliding_window' is missing; it must be null or a number of tokens");
  }
  LB_ASSIGN_OR_RETURN(PlainDecoder mistral, read_plain_decoder(config, file, HeadKeys::kWidth));
  LB_ASSIGN_OR_RETURN(mistral.config.causal, read_causal(config, file));
  EncoderSizes& sizes = mistral.config.sizes;
  // Mistral has no biases, whatever this key says.
  mistral.config.query_bias = mistral.config.attended_bias = false;
  LB_ASSIGN_OR_RETURN(const auto window, read_causal_window(config, file));
  if (window && !mistral.config.causal) {
    return unsupported_file(file, "'is_causal' is false beside a 'sliding_window', which is not supported");
  }
  mistral.windows.assign(sizes.layers, window);
  return make_plain_decoder(std::move(mistral));
}

}  // namespace latebind::embedding
