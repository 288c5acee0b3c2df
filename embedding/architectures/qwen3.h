// Qwen3: a decoder, each token of which attends to itself and those before it, or to all (`is_causal` false); RMS norms
// before the sums and of each head's queries and keys, keys that several heads share, rotary positions, and
// feed-forward parts with a gate.
//
// Source: Yang et al., "Qwen3 Technical Report" (2025), with the tensor names and the configuration of transformers'
// Qwen3Model. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// As Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_qwen3(const nlohmann::json& config,
                                                                      const std::filesystem::path& file);

}  // namespace latebind::embedding
