// XLM-RoBERTa in Jina's own form, such as jina-reranker-v2-base-multilingual: the network of transformers' XLM-RoBERTa
// under the tensor names of Jina's code. config.json names that code in `auto_map`.
//
// Source: the configurations and tensor names of the published checkpoints. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// Returns whether `auto_map` names Jina's code.
[[nodiscard]] bool is_jina_roberta(const core::Json& config);

// See Architecture::read. Positions are those of a table.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_jina_roberta(const core::Json& config,
                                                                             const std::filesystem::path& file);

}  // namespace latebind::embedding
