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

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_modernbert(const core::Json& config,
                                                                           const std::filesystem::path& file);

}  // namespace latebind::embedding
