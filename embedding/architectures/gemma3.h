// Gemma 3 as an encoder, as in EmbeddingGemma: bidirectional attention, global or local by layer; RMS norms before and
// after each part, and of each head's queries and keys; grouped-query attention, and rotary positions with two bases.
//
// Source: Gemma Team, "Gemma 3 Technical Report" (2025), with the tensor names and the configuration of transformers'
// Gemma3TextModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_gemma3(const core::Json& config,
                                                                       const std::filesystem::path& file);

}  // namespace latebind::embedding
