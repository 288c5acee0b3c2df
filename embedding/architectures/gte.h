// The second generation of GTE, also used by Snowflake's Arctic Embed 2.0: BERT with rotary positions and gated
// feed-forward parts.
//
// Source: Zhang et al., "mGTE: Generalized Long-Context Text Representation and Reranking Models" (2024), with the
// tensor names of the published checkpoints and the numbers of transformers' GteModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_gte(const core::Json& config,
                                                                    const std::filesystem::path& file);

}  // namespace latebind::embedding
