#include "embedding/architectures/qwen2.h"

#include <string>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/decoder.h"
#include "embedding/architectures/layer_kinds.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::vector<std::optional<std::size_t>>> read_qwen_windows(const Json& config, const path& file,
                                                                  const DecoderConfig& decoder) {
  using Windows = std::vector<std::optional<std::size_t>>;
  const std::size_t layers = decoder.sizes.layers;
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const bool has_windows, core::read_bool(config, "use_sliding_window", false, name));
  LB_ASSIGN_OR_RETURN(const auto window, read_causal_window(config, file));
  LB_ASSIGN_OR_RETURN(const auto is_local, read_layer_types(config, file, layers));
  if (has_windows && !decoder.causal) {
    return unsupported_file(file, "'is_causal' is false beside 'use_sliding_window', which is not supported");
  }
  Windows windows(layers);
  if (!is_local) {
    if (!has_windows) return Windows();
    LB_ASSIGN_OR_RETURN(const auto first, core::read_size(config, "max_window_layers", 0, kTokensMax, name));
    if (!window) return invalid_file(file, "'use_sliding_window' is true, but there is no 'sliding_window'");
    if (!first) return invalid_file(file, "'use_sliding_window' is true, but there is no 'max_window_layers'");
    for (std::size_t i = *first; i < layers; ++i)
      windows[i] = window;
    return windows;
  }
  for (std::size_t i = 0; i < layers; ++i) {
    if (!(*is_local)[i]) continue;
    if (!has_windows || !window) {
      return invalid_file(file,
                          "'layer_types' has sliding_attention, but 'use_sliding_window' is not true or there is no "
                          "'sliding_window'");
    }
    windows[i] = window;
  }
  return windows;
}

Result<std::shared_ptr<const Network>> read_qwen2(const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(PlainDecoder qwen, read_plain_decoder(config, file, HeadKeys::kWidth));
  LB_ASSIGN_OR_RETURN(qwen.config.causal, read_causal(config, file));
  // The biases are part of the network; `attention_bias` has no meaning here.
  qwen.config.query_bias = true;
  qwen.config.attended_bias = false;
  LB_ASSIGN_OR_RETURN(qwen.windows, read_qwen_windows(config, file, qwen.config));
  return make_plain_decoder(std::move(qwen));
}

}  // namespace latebind::embedding
