#include "embedding/architectures/qwen2.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "core/json/read.h"
#include "core/text/nearest_word.h"
#include "embedding/architectures/decoder.h"
#include "embedding/architectures/rotary.h"
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
  const auto* const types = core::find_member(config, "layer_types");
  if (types != nullptr && (!types->is_array() || types->size() != layers))
    return invalid_file(file, fmt::format("'layer_types' is not a list of {} layers", layers));
  if (has_windows && !decoder.causal) {
    return unsupported_file(file, "'is_causal' is false beside 'use_sliding_window', which is not supported");
  }
  Windows windows(layers);
  if (types == nullptr) {
    if (!has_windows) return Windows();
    LB_ASSIGN_OR_RETURN(const auto first, core::read_size(config, "max_window_layers", 0, kTokensMax, name));
    if (!window) return invalid_file(file, "'use_sliding_window' is true, but there is no 'sliding_window'");
    if (!first) return invalid_file(file, "'use_sliding_window' is true, but there is no 'max_window_layers'");
    for (std::size_t i = *first; i < layers; ++i)
      windows[i] = window;
    return windows;
  }
  constexpr std::array<std::string_view, 2> kKinds{"full_attention", "sliding_attention"};
  for (std::size_t i = 0; i < layers; ++i) {
    const Json& type = (*types)[i];
    if (type == kKinds[0]) continue;
    if (type != kKinds[1]) {
      return unsupported_file(file, fmt::format("'layer_types' has {}{}", core::printable_json(type),
                                                core::supported_instead(core::printable_json(type), kKinds)));
    }
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
  PlainDecoder qwen;
  LB_ASSIGN_OR_RETURN(qwen.config, read_decoder(config, file, HeadKeys::kWidth));
  LB_ASSIGN_OR_RETURN(qwen.config.causal, read_causal(config, file));
  // The biases are part of the network; `attention_bias` has no meaning here.
  qwen.config.query_bias = true;
  qwen.config.attended_bias = false;
  EncoderSizes& sizes = qwen.config.sizes;
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file, "silu"));
  LB_ASSIGN_OR_RETURN(qwen.rotary, read_rotary(config, file, rotary_heads_of(sizes), 10000));
  LB_ASSIGN_OR_RETURN(qwen.windows, read_qwen_windows(config, file, qwen.config));
  return make_plain_decoder(std::move(qwen));
}

}  // namespace latebind::embedding
