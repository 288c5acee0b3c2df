// ModernBERT: pre-norm layers, rotary positions with two bases, mostly local attention, gated feed-forward parts, and
// few biases.
//
// Source: Warner et al., "Smarter, Better, Faster, Longer" (2024), with the tensor names and the configuration of
// transformers' ModernBertModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/architectures/encoder.h"
#include "embedding/architectures/layer_kinds.h"

namespace latebind::embedding {

// The configuration that ModernBERT and its decoder share.
struct ModernBertConfig {
  EncoderSizes sizes{};
  LayerKinds kinds{};
  bool attention_bias = false;
  bool mlp_bias = false;
  bool causal = false;
};
// Reads all members except the window and `causal`. Returns kInvalidModel or kUnsupported, naming the key.
[[nodiscard]] core::Result<ModernBertConfig> read_modernbert_config(const core::Json& config,
                                                                    const std::filesystem::path& file);
// Makes the network. `names` has the tensors of attention; the function adds the others.
[[nodiscard]] std::shared_ptr<const Network> make_modernbert(ModernBertConfig config, const LayerNames& names);

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_modernbert(const core::Json& config,
                                                                           const std::filesystem::path& file);

}  // namespace latebind::embedding
