// The common part of encoders like BERT: layers of attention and feed-forward parts with residual connections and
// norms, and the heads that end a network. An architecture adds its names and embeddings.
//
// Source: Vaswani et al., "Attention Is All You Need" (2017), with post-norm layers. Pooling as sentence-transformers
// defines it. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embedding/architectures/architecture.h"
#include "embedding/architectures/encoder_config.h"

namespace latebind::embedding {

// The names of a layer's tensors, without ".weight" and ".bias". Empty for tensors that the network does not have.
struct LayerNames {
  std::string_view query{};
  std::string_view key{};
  std::string_view value{};
  std::string_view query_key_value{};  // instead of the three: one joint matrix
  std::string_view query_norm{};       // of each head's queries
  std::string_view key_norm{};
  std::string_view attended{};       // the projection that joins the heads
  std::string_view attended_norm{};  // post-norm: after attention and the sum; pre-norm: before attention
  std::string_view attended_end{};   // after attention, before the sum
  std::string_view wide{};
  std::string_view gate{};           // multiplies the wide part
  std::string_view wide_and_gate{};  // instead of the two: one joint matrix
  std::string_view gate_and_wide{};  // likewise, in this order
  std::string_view narrow{};
  // For a feed-forward part with experts: the prefix of their tensors, and the name of the router's matrix.
  std::string_view experts{};
  std::string_view router{};
  std::string_view norm{};        // post-norm: after the feed-forward part and the sum; pre-norm: before that part
  std::string_view narrow_end{};  // after the feed-forward part, before the sum
  // Which of them have a bias.
  bool query_bias = true;  // also for key and value
  bool attended_bias = true;
  bool wide_bias = true;  // also for the gate
  bool narrow_bias = true;
};

class EncoderNetwork : public Network {
 public:
  explicit EncoderNetwork(const EncoderSizes& sizes) : sizes_(sizes) {}

  [[nodiscard]] std::size_t vocabulary_size() const override { return sizes_.vocabulary; }
  [[nodiscard]] std::size_t hidden_size() const override { return sizes_.hidden; }
  [[nodiscard]] std::size_t tokens_max() const override {
    return sizes_.positions - (sizes_.padding ? *sizes_.padding + 1 : 0);
  }

 protected:
  [[nodiscard]] const EncoderSizes& sizes() const { return sizes_; }

 private:
  const EncoderSizes sizes_;
};

// How attention depends on the positions of tokens, and its scale, by default 1 / √(width of a head).
struct AttentionTerms {
  std::optional<graph::DistanceBias> distance_bias = std::nullopt;
  std::optional<graph::LinearBias> linear_bias = std::nullopt;
  std::optional<graph::Rotary> rotary = std::nullopt;
  std::optional<float> soft_cap = std::nullopt;
  std::optional<std::int64_t> window = std::nullopt;
  bool causal = false;
  std::optional<float> scale = std::nullopt;
};

// Whether a network with this many token types has them as an input.
[[nodiscard]] inline bool takes_token_types(std::size_t types, const NetworkUse& use) {
  return use.token_types && types > 1;
}

class EncoderBuilder {
 public:
  // `use` is what finish() builds and must outlive the builder. Checkpoints with a head keep the encoder below `prefix`
  // ("bert."). `words` is the tensor of the word embeddings.
  EncoderBuilder(const EncoderSizes& sizes, const ModelWeights& weights, const NetworkUse& use, std::string_view prefix,
                 std::string words = "embeddings.word_embeddings.weight");

  // Adds the first nodes, `input_ids` and `attention_mask`.
  [[nodiscard]] std::pair<graph::Value, graph::Value> inputs();
  // Returns a tensor, checked for its shape. Errors name the tensor.
  [[nodiscard]] core::Result<graph::Weight> weight(const std::string& name, std::initializer_list<std::size_t> dims);
  // Normalises groups of `width` numbers. Old checkpoints call the two tensors of a layer norm gamma and beta.
  [[nodiscard]] core::Result<graph::Value> norm(graph::Value x, std::size_t width, const std::string& name);
  [[nodiscard]] core::Result<graph::Value> linear(graph::Value x, const std::string& name, std::size_t in,
                                                  std::size_t out, bool has_bias = true);
  // Multiplies by the matrix with index `which` of `of` matrices [out, in] that are stored as one.
  [[nodiscard]] core::Result<graph::Value> linear_of(graph::Value x, const std::string& name, std::size_t in,
                                                     std::size_t out, std::size_t which, std::size_t of, bool has_bias);
  // The embeddings of the ids, of the positions and of the token types. The last is [batch, tokens, width] if types are
  // an input, otherwise [width] for the first type, which all tokens of a single text have.
  [[nodiscard]] core::Result<graph::Value> words(graph::Value ids, std::size_t width);
  [[nodiscard]] core::Result<graph::Value> positions(graph::Value ids, std::size_t width);
  [[nodiscard]] core::Result<graph::Value> token_type(std::size_t types, std::size_t width);
  // Sets the terms for all attention that follows.
  void set_terms(AttentionTerms terms) { terms_ = std::move(terms); }
  // `place` is like "encoder.layer.0.".
  [[nodiscard]] core::Result<graph::Value> attention(graph::Value x, graph::Value mask, const std::string& place,
                                                     const LayerNames& names);
  [[nodiscard]] core::Result<graph::Value> feed_forward(graph::Value x, const std::string& place,
                                                        const LayerNames& names);
  // A post-norm layer: each part, its residual sum, and a norm.
  [[nodiscard]] core::Result<graph::Value> layer(graph::Value x, graph::Value mask, const std::string& place,
                                                 const LayerNames& names);
  // A pre-norm layer: a norm, each part, and its residual sum. A norm without a name is omitted.
  [[nodiscard]] core::Result<graph::Value> pre_norm_layer(graph::Value x, graph::Value mask, const std::string& place,
                                                          const LayerNames& names);
  // All layers, at the places "encoder.layer.N.".
  [[nodiscard]] core::Result<graph::Value> layers(graph::Value x, graph::Value mask, std::string_view place,
                                                  const LayerNames& names);
  [[nodiscard]] core::Result<graph::Graph> finish(graph::Value x, graph::Value mask) &&;

  [[nodiscard]] graph::GraphBuilder& graph() { return graph_; }

 private:
  [[nodiscard]] core::Result<graph::Value> experts(graph::Value x, const std::string& place, const LayerNames& names);
  // Adds the low-rank change of the chosen task to the product with one of `of` stacked matrices.
  [[nodiscard]] core::Result<graph::Value> add_task(graph::Value y, graph::Value x, const std::string& name,
                                                    std::size_t which, std::size_t of);
  // Returns the intermediate value of the low-rank change, [.., columns], times the scales of the chosen task.
  [[nodiscard]] core::Result<graph::Value> scaled(graph::Value low, const TaskChange& change);
  [[nodiscard]] core::Result<graph::Weight> made(const std::string& name, std::size_t rows, std::size_t columns) const;
  [[nodiscard]] graph::Value task_ids();
  [[nodiscard]] core::Result<graph::Value> norm_of(graph::Value x, std::size_t width, const std::string& name,
                                                   NormKind kind, float epsilon);
  // The value and the name of this end.
  [[nodiscard]] core::Result<graph::GraphOutput> end_of(graph::Value x, graph::Value mask, const NetworkEnd& end);
  [[nodiscard]] core::Result<graph::Value> classify(graph::Value x, graph::Value mask, const ClassifierHead& head);
  [[nodiscard]] core::Result<graph::Value> score_terms(graph::Value x, const VocabularyHead& head);
  [[nodiscard]] core::Result<graph::Value> score_tokens(graph::Value x, graph::Value mask, const TokenHead& head);
  [[nodiscard]] core::Result<graph::Value> head_layer(graph::Value x, const HeadLayer& layer, std::size_t width);
  [[nodiscard]] core::Result<graph::Value> after_pooling(graph::Value x, const DenseModule& dense);
  [[nodiscard]] core::Result<graph::Value> after_pooling(graph::Value x, const LayerNormModule& module);
  [[nodiscard]] core::Result<graph::Value> norm_if_named(graph::Value x, std::size_t width, const std::string& place,
                                                         std::string_view name);

  EncoderSizes sizes_;
  const ModelWeights& weights_;
  const NetworkUse& use_;
  graph::GraphBuilder graph_;
  std::string words_;
  std::string prefix_;
  AttentionTerms terms_;
  std::optional<graph::Value> task_ids_ = std::nullopt;
  std::map<std::string, graph::Value> scales_;                             // by the table's name
  std::map<std::pair<std::uint32_t, std::string>, graph::Value> lowered_;  // by the node and the matrix's name
};

// A network that consists of word embeddings, the first token type's embedding if there are types, a norm, and
// post-norm layers. All strings are literals.
struct PlainEncoder {
  EncoderSizes sizes{};
  std::size_t token_type_count = 0;
  AttentionTerms terms{};
  std::string_view prefix{};  // see EncoderBuilder
  std::string_view norm = "embeddings.LayerNorm";
  std::string_view layers = "encoder.layer.";
  LayerNames names{};
  // Whether each layer has experts, and the names in layers that have. Empty if no layer has experts.
  std::vector<bool> has_experts{};
  LayerNames expert_names{};
};
[[nodiscard]] std::shared_ptr<const Network> make_plain_encoder(PlainEncoder encoder);

}  // namespace latebind::embedding
