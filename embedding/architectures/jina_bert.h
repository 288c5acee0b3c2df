// JinaBERT of the second generation: BERT whose attention knows distances by ALiBi instead of having positions, and
// feed-forward parts with a gate.
//
// Source: Günther et al., "Jina Embeddings 2: 8192-Token General-Purpose Text Embeddings for Long Documents" (2023),
// with the tensor names of the published checkpoints. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// As Architecture::read: of files whose `model_type` is bert and whose `position_embedding_type` is alibi.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_jina_bert(const nlohmann::json& config,
                                                                          const std::filesystem::path& file);

}  // namespace latebind::embedding
