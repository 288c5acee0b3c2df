// The second generation of JinaBERT: BERT with ALiBi instead of position embeddings, and gated feed-forward parts.
//
// Source: Günther et al., "Jina Embeddings 2: 8192-Token General-Purpose Text Embeddings for Long Documents" (2023),
// with the tensor names of the published checkpoints. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read. For files with `model_type` bert and `position_embedding_type` alibi.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_jina_bert(const core::Json& config,
                                                                          const std::filesystem::path& file);

}  // namespace latebind::embedding
