#include "embedding/architectures/bert.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using graph::Value;
using graph::Weight;

graph::ActivationFunction function_of(const std::string& activation) {
  if (activation == "gelu_tanh") return graph::ActivationFunction::kGeluTanh;
  return activation == "relu" ? graph::ActivationFunction::kRelu : graph::ActivationFunction::kGeluErf;
}

class Builder {
 public:
  Builder(const BertConfig& config, const Safetensors& weights)
      : config_(config), weights_(weights), graph_(weights.part()), activation_(function_of(config.activation)) {}

  Result<graph::Graph> build(const ModelFolder& folder, const GraphOptions& options);

 private:
  using Dims = std::initializer_list<std::size_t>;

  Result<Weight> weight(const std::string& name, Dims dims);
  // Old checkpoints call the two tensors of a LayerNorm gamma and beta.
  Result<Value> layer_norm(Value x, const std::string& name);
  Result<Value> linear(Value x, const std::string& name, std::size_t in, std::size_t out);
  Result<Value> embeddings(Value ids);
  Result<Value> attention(Value x, Value mask, const std::string& name);
  Result<Value> layer(Value x, Value mask, const std::string& name);

  const BertConfig& config_;
  const Safetensors& weights_;
  graph::GraphBuilder graph_;
  const graph::ActivationFunction activation_;
  std::string prefix_;
};

Result<Weight> Builder::weight(const std::string& name, Dims dims) {
  std::vector<std::int64_t> wanted;
  for (const std::size_t dim : dims)
    wanted.push_back(static_cast<std::int64_t>(dim));
  LB_ASSIGN_OR_RETURN(StoredTensor tensor, weights_.find(prefix_ + name, wanted));
  LB_ASSIGN_OR_RETURN(const Shape shape, Shape::make(tensor.shape));
  return Weight{.name = std::move(tensor.name), .type = tensor.type, .shape = shape, .offset = tensor.offset};
}

Result<Value> Builder::layer_norm(Value x, const std::string& name) {
  const bool old_names = weights_.contains(prefix_ + name + ".gamma");
  LB_ASSIGN_OR_RETURN(auto scale, weight(name + (old_names ? ".gamma" : ".weight"), {config_.hidden_size}));
  LB_ASSIGN_OR_RETURN(auto shift, weight(name + (old_names ? ".beta" : ".bias"), {config_.hidden_size}));
  return graph_.add(graph::LayerNorm{
      .x = x, .weight = std::move(scale), .bias = std::move(shift), .epsilon = config_.layer_norm_epsilon});
}

Result<Value> Builder::linear(Value x, const std::string& name, std::size_t in, std::size_t out) {
  LB_ASSIGN_OR_RETURN(auto matrix, weight(name + ".weight", {out, in}));
  LB_ASSIGN_OR_RETURN(auto bias, weight(name + ".bias", {out}));
  return graph_.add(graph::Linear{.x = x, .weight = std::move(matrix), .bias = std::move(bias)});
}

Result<Value> Builder::embeddings(Value ids) {
  const std::size_t hidden = config_.hidden_size;
  LB_ASSIGN_OR_RETURN(auto words, weight("embeddings.word_embeddings.weight", {config_.vocabulary_size, hidden}));
  LB_ASSIGN_OR_RETURN(auto positions,
                      weight("embeddings.position_embeddings.weight", {config_.position_count, hidden}));
  LB_ASSIGN_OR_RETURN(auto types,
                      weight("embeddings.token_type_embeddings.weight", {config_.token_type_count, hidden}));
  const Value word = graph_.add(graph::Lookup{.table = std::move(words), .ids = ids});
  const Value position = graph_.add(graph::PositionLookup{.table = std::move(positions), .ids = ids});
  // A single text has type 0 throughout.
  const Value type = graph_.add(graph::RowLookup{.table = std::move(types), .row = 0});
  const Value place = graph_.add(graph::Add{.a = position, .b = type});
  return layer_norm(graph_.add(graph::Add{.a = word, .b = place}), "embeddings.LayerNorm");
}

Result<Value> Builder::attention(Value x, Value mask, const std::string& name) {
  const std::size_t hidden = config_.hidden_size;
  LB_ASSIGN_OR_RETURN(const Value query, linear(x, name + ".self.query", hidden, hidden));
  LB_ASSIGN_OR_RETURN(const Value key, linear(x, name + ".self.key", hidden, hidden));
  LB_ASSIGN_OR_RETURN(const Value value, linear(x, name + ".self.value", hidden, hidden));
  const std::size_t width = hidden / config_.head_count;  // without a rest: the folder was checked
  const Value context = graph_.add(graph::Attention{.query = query,
                                                    .key = key,
                                                    .value = value,
                                                    .mask = mask,
                                                    .heads = static_cast<std::int64_t>(config_.head_count),
                                                    .scale = 1.0F / std::sqrt(static_cast<float>(width))});
  return linear(context, name + ".output.dense", hidden, hidden);
}

Result<Value> Builder::layer(Value x, Value mask, const std::string& name) {
  const std::size_t hidden = config_.hidden_size;
  LB_ASSIGN_OR_RETURN(const Value attended, attention(x, mask, name + ".attention"));
  LB_ASSIGN_OR_RETURN(const Value middle,
                      layer_norm(graph_.add(graph::Add{.a = attended, .b = x}), name + ".attention.output.LayerNorm"));
  LB_ASSIGN_OR_RETURN(const Value wide,
                      linear(middle, name + ".intermediate.dense", hidden, config_.intermediate_size));
  const Value active = graph_.add(graph::Activation{.x = wide, .function = activation_});
  LB_ASSIGN_OR_RETURN(const Value narrow, linear(active, name + ".output.dense", config_.intermediate_size, hidden));
  return layer_norm(graph_.add(graph::Add{.a = narrow, .b = middle}), name + ".output.LayerNorm");
}

Result<graph::Graph> Builder::build(const ModelFolder& folder, const GraphOptions& options) {
  // Checkpoints of models with a head on top keep the encoder below "bert.".
  if (!weights_.contains("embeddings.word_embeddings.weight") &&
      weights_.contains("bert.embeddings.word_embeddings.weight")) {
    prefix_ = "bert.";
  }
  const Shape tokens{core::kDynamic, core::kDynamic};
  const Value ids = graph_.add(graph::Input{.name = "input_ids", .type = ElementType::kI64, .shape = tokens});
  const Value mask = graph_.add(graph::Input{.name = "attention_mask", .type = ElementType::kI64, .shape = tokens});
  LB_ASSIGN_OR_RETURN(Value x, embeddings(ids));
  for (std::size_t i = 0; i < config_.layer_count; ++i) {
    LB_ASSIGN_OR_RETURN(x, layer(x, mask, fmt::format("encoder.layer.{}", i)));
  }
  if (options.hidden_states) return std::move(graph_).finish(x, "last_hidden_state");
  x = graph_.add(graph::Pool{.x = x, .mask = mask, .mode = folder.pooling});
  if (folder.normalize) x = graph_.add(graph::Normalize{.x = x});
  return std::move(graph_).finish(x, "sentence_embedding");
}

}  // namespace

Result<graph::Graph> make_bert_graph(const ModelFolder& folder, const Safetensors& weights,
                                     const GraphOptions& options) {
  if (!folder.bert) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: config.json describes no model of the BERT family", folder.name()));
  }
  return Builder(*folder.bert, weights).build(folder, options);
}

}  // namespace latebind::embedding
