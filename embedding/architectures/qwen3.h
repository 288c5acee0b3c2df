// Qwen3: a decoder with causal attention, or bidirectional attention if `is_causal` is false; pre-norm layers with RMS
// norms, also of each head's queries and keys; grouped-query attention, rotary positions, and gated feed-forward parts.
//
// Source: Yang et al., "Qwen3 Technical Report" (2025), with the tensor names and the configuration of transformers'
// Qwen3Model. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_qwen3(const core::Json& config,
                                                                      const std::filesystem::path& file);

// Reads Qwen3 with attention in both directions, whose published files have a separate `model_type`.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_bidirectional_qwen3(const core::Json& config,
                                                                                    const std::filesystem::path& file);

}  // namespace latebind::embedding
