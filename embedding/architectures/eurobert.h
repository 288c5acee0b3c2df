// EuroBERT: Llama's network with bidirectional attention.
//
// Source: Boizard et al., "EuroBERT: Scaling Multilingual Encoders for European Languages" (2025), with the tensor
// names and the configuration of transformers' EuroBertModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_eurobert(const core::Json& config,
                                                                         const std::filesystem::path& file);

}  // namespace latebind::embedding
