// Gemma: a decoder like Llama's, whose word embeddings are multiplied by the square root of their width, and whose
// norms store their weights minus 1.
//
// Source: Gemma Team, "Gemma: Open Models Based on Gemini Research and Technology" (2024), with the tensor names and
// the configuration of transformers' GemmaModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_gemma(const core::Json& config,
                                                                      const std::filesystem::path& file);

}  // namespace latebind::embedding
