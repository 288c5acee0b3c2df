// Gemma 3 as an encoder, as in EmbeddingGemma: all tokens attend to all, or to near ones alone; RMS norms before each
// part and behind it, and of each head's queries and keys; keys that several heads share, and rotary positions of two
// bases.
//
// Source: Gemma Team, "Gemma 3 Technical Report" (2025), with the tensor names and the configuration of transformers'
// Gemma3TextModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// As Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_gemma3(const nlohmann::json& config,
                                                                       const std::filesystem::path& file);

}  // namespace latebind::embedding
