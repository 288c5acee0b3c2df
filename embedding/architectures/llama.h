// Llama: a decoder with causal attention, or bidirectional attention if `is_causal` is false; pre-norm layers with RMS
// norms, grouped-query attention, rotary positions, and gated feed-forward parts.
//
// Source: Touvron et al., "LLaMA: Open and Efficient Foundation Language Models" (2023), with the tensor names and the
// configuration of transformers' LlamaModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_llama(const core::Json& config,
                                                                      const std::filesystem::path& file);

}  // namespace latebind::embedding
