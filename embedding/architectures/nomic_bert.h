// NomicBERT: BERT with rotary positions and gated feed-forward parts, or with a mixture of experts in every nth layer.
//
// Source: Nussbaum et al., "Nomic Embed: Training a Reproducible Long Context Text Embedder" (2024); Nussbaum and
// Duderstadt, "Training Sparse Mixture Of Experts Text Embedding Models" (2025), with the
// configurations and tensor names of the published checkpoints and of transformers' NomicBertModel. Pure functions, for
// any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_nomic_bert(const core::Json& config,
                                                                           const std::filesystem::path& file);

}  // namespace latebind::embedding
