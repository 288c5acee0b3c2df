// The BERT family: embeddings, encoder layers, pooling.
//
// Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), with the tensor names of
// transformers' BertModel. Pooling as sentence-transformers defines it. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// Sizes, bounded when read: absurd ones are rejected.
struct BertConfig {
  std::size_t hidden_size = 0;
  std::size_t layer_count = 0;
  std::size_t head_count = 0;
  std::size_t intermediate_size = 0;
  std::size_t vocabulary_size = 0;
  std::size_t position_count = 0;
  std::size_t token_type_count = 0;
  float layer_norm_epsilon = 1e-12F;
  graph::ActivationFunction activation = graph::ActivationFunction::kGeluErf;
};

// As Architecture::read, and what it reads.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_bert(const nlohmann::json& config,
                                                                     const std::filesystem::path& file);
[[nodiscard]] core::Result<BertConfig> read_bert_config(const nlohmann::json& config,
                                                        const std::filesystem::path& file);

// As Network::make_graph().
[[nodiscard]] core::Result<graph::Graph> make_bert_graph(const BertConfig& config, const Safetensors& weights,
                                                         const NetworkEnd& end);

}  // namespace latebind::embedding
