// NomicBERT: BERT with rotary positions, feed-forward parts with a gate, and biases in its norms alone.
//
// Source: Nussbaum et al., "Nomic Embed: Training a Reproducible Long Context Text Embedder" (2024), with the
// configurations and tensor names of the published checkpoints and of transformers' NomicBertModel. Pure functions, for
// any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// As Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_nomic_bert(const nlohmann::json& config,
                                                                           const std::filesystem::path& file);

}  // namespace latebind::embedding
