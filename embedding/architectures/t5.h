// T5 and mT5: the encoder of the network alone. It has pre-norm layers with RMS norms, attention with a bias for each
// distance between two tokens, which all layers share, no scale of the products, and plain or gated feed-forward parts.
//
// Source: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer" (2020),
// with the tensor names and the configuration of transformers' T5EncoderModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_t5(const core::Json& config,
                                                                   const std::filesystem::path& file);

[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_mt5(const core::Json& config,
                                                                    const std::filesystem::path& file);

}  // namespace latebind::embedding
