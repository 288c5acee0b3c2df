// BERT, and ELECTRA, which is BERT with embeddings of a different width.
//
// Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018); Clark et al., "ELECTRA"
// (2020); with the tensor names of transformers' BertModel and ElectraModel. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "embedding/architectures/encoder.h"

namespace latebind::embedding {

struct BertConfig {
  EncoderSizes sizes{};
  std::size_t embedding_size = 0;  // equal to the hidden size in BERT
  std::size_t token_type_count = 0;
  std::size_t task_type_count = 0;  // ERNIE: all tokens have the first type
  std::string_view prefix = "bert.";
  // For Longformer, the largest distance over which each layer attends. Empty if no layer has a limit.
  std::vector<std::size_t> windows{};
};

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_bert(const core::Json& config,
                                                                     const std::filesystem::path& file);
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_electra(const core::Json& config,
                                                                        const std::filesystem::path& file);
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_ernie(const core::Json& config,
                                                                      const std::filesystem::path& file);
// `activation` is the default if config.json has none.
[[nodiscard]] core::Result<BertConfig> read_bert_config(const core::Json& config, const std::filesystem::path& file,
                                                        std::string_view activation = "gelu");
// Returns the sum of the embeddings, [batch, tokens, embedding_size].
[[nodiscard]] core::Result<graph::Value> bert_embedding_sum(EncoderBuilder& encoder, const BertConfig& config,
                                                            graph::Value ids, const NetworkUse& use);
// Returns the normalised embeddings, [batch, tokens, embedding_size].
[[nodiscard]] core::Result<graph::Value> bert_embeddings(EncoderBuilder& encoder, const BertConfig& config,
                                                         graph::Value ids, const NetworkUse& use);

[[nodiscard]] std::shared_ptr<const Network> make_bert_network(const BertConfig& config);

// See Network::make_graph().
[[nodiscard]] core::Result<graph::Graph> make_bert_graph(const BertConfig& config, const ModelWeights& weights,
                                                         const NetworkUse& use);

}  // namespace latebind::embedding
