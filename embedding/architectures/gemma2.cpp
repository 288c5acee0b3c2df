#include "embedding/architectures/gemma2.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/decoder.h"
#include "embedding/architectures/layer_kinds.h"
#include "embedding/architectures/rotary.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using std::filesystem::path;

// Reads which layers have a window, and its width.
Status read_windows(const Json& config, const path& file, PlainDecoder& gemma) {
  constexpr std::size_t kWindow = 4096;  // if the key is absent
  const std::size_t layers = gemma.config.sizes.layers;
  LB_ASSIGN_OR_RETURN(auto window, read_causal_window(config, file));
  if (!config.contains("sliding_window")) window = kWindow - 1;
  LB_ASSIGN_OR_RETURN(const auto is_local, read_layer_types(config, file, layers));
  for (std::size_t i = 0; i < layers; ++i) {
    const bool has_window = is_local ? (*is_local)[i] : i % 2 == 0;
    if (has_window && !window)
      return unsupported_file(file, "'sliding_window' is null beside layers with sliding_attention");
    if (has_window && !gemma.config.causal)
      return unsupported_file(file,
                              "'is_causal' is false beside layers with sliding_attention, which is not supported");
    gemma.windows.push_back(has_window ? window : std::nullopt);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Network>> read_gemma2(const Json& config, const path& file) {
  LB_RETURN_IF_ERROR(expect(config, file, "use_bidirectional_attention", false));
  PlainDecoder gemma;
  LB_ASSIGN_OR_RETURN(gemma.config, read_decoder(config, file));
  LB_ASSIGN_OR_RETURN(gemma.config.causal, read_causal(config, file));
  EncoderSizes& sizes = gemma.config.sizes;
  sizes.norm = NormKind::kRmsPlusOne;
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_activation", file, "gelu_pytorch_tanh"));
  LB_ASSIGN_OR_RETURN(const auto scalar, core::read_size(config, "query_pre_attn_scalar", 1, kHiddenSizeMax,
                                                         platform::path_to_utf8(file)));
  gemma.scale = 1.0F / std::sqrt(static_cast<float>(scalar.value_or(256)));
  LB_ASSIGN_OR_RETURN(gemma.soft_cap, read_soft_cap(config, "attn_logit_softcapping", file, 50));
  LB_RETURN_IF_ERROR(read_windows(config, file, gemma));
  gemma.has_end_norms = true;
  gemma.word_scale = std::sqrt(static_cast<float>(sizes.hidden));
  LB_ASSIGN_OR_RETURN(gemma.rotary, read_rotary(config, file, rotary_heads_of(sizes), 10000));
  return make_plain_decoder(std::move(gemma));
}

}  // namespace latebind::embedding
