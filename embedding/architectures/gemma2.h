// Gemma 2: a decoder like Gemma, with norms before and after each part, a soft cap on attention scores, the attention
// scale of config.json, and a sliding window in every second layer.
//
// Source: Gemma Team, "Gemma 2: Improving Open Language Models at a Practical Size" (2024), with the tensor names and
// the configuration of transformers' Gemma2Model. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_gemma2(const core::Json& config,
                                                                       const std::filesystem::path& file);

}  // namespace latebind::embedding
