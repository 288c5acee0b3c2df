// Jina Embeddings v3: XLM-RoBERTa with rotary positions instead of a table, and low-rank parts for several tasks.
//
// Source: Sturua et al., "jina-embeddings-v3: Multilingual Embeddings With Task LoRA" (2024), with the configurations
// and tensor names of the published checkpoints and of transformers' JinaEmbeddingsV3Model. Pure functions, for any
// thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

// The names in Jina's code, below "encoder.layers.N.".
inline constexpr LayerNames kJinaRobertaNames{.query_key_value = "mixer.Wqkv",
                                              .attended = "mixer.out_proj",
                                              .attended_norm = "norm1",
                                              .wide = "mlp.fc1",
                                              .narrow = "mlp.fc2",
                                              .norm = "norm2"};

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_jina_v3(const core::Json& config,
                                                                        const std::filesystem::path& file);

}  // namespace latebind::embedding
