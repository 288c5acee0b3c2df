#include "embedding/graph/bert.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

// Added to the scores of padding: far below any score, and representable in f16.
constexpr float kMasked = -10000.0F;

// Added to padding's token vectors before their maximum is taken; the value that the reference uses.
constexpr float kNeverMaximal = -1e9F;

class Builder {
 public:
  Builder(const BertConfig& config, const Safetensors& weights) : config_(config), weights_(weights) {}

  Result<Graph> build(const ModelFolder& folder, const GraphOptions& options);

 private:
  using Dims = std::initializer_list<std::size_t>;

  Result<Value> weight(const std::string& name, Dims dims);
  // Old checkpoints call the two tensors of a LayerNorm gamma and beta.
  Result<Value> layer_norm(Value x, const std::string& name);
  Result<Value> linear(Value x, const std::string& name, std::size_t in, std::size_t out);
  Result<Value> heads(Value x, const std::string& name);
  Result<Value> embeddings();
  Result<Value> attention(Value x, Value mask, const std::string& name);
  Result<Value> layer(Value x, Value mask, const std::string& name);
  Value pooled(Value states, PoolingMode mode);
  Value normalized(Value vector);

  const BertConfig& config_;
  const Safetensors& weights_;
  std::string prefix_;
  Operator activation_ = Operator::kGeluErf;
  Graph graph_;
  Value ids_{};
  Value mask_{};      // i64 [batch, tokens]
  Value mask_f32_{};  // the same in f32
};

Result<Value> Builder::weight(const std::string& name, Dims dims) {
  std::vector<std::int64_t> shape;
  for (const std::size_t dim : dims)
    shape.push_back(static_cast<std::int64_t>(dim));
  LB_ASSIGN_OR_RETURN(const StoredTensor tensor, weights_.find(prefix_ + name, shape));
  return graph_.convert(graph_.weight(tensor), ElementType::kF32);
}

Result<Value> Builder::layer_norm(Value x, const std::string& name) {
  const bool old_names = weights_.contains(prefix_ + name + ".gamma");
  LB_ASSIGN_OR_RETURN(const Value scale, weight(name + (old_names ? ".gamma" : ".weight"), {config_.hidden_size}));
  LB_ASSIGN_OR_RETURN(const Value shift, weight(name + (old_names ? ".beta" : ".bias"), {config_.hidden_size}));
  return graph_.layer_norm(x, scale, shift, config_.layer_norm_epsilon);
}

Result<Value> Builder::linear(Value x, const std::string& name, std::size_t in, std::size_t out) {
  LB_ASSIGN_OR_RETURN(const Value matrix, weight(name + ".weight", {out, in}));
  LB_ASSIGN_OR_RETURN(const Value bias, weight(name + ".bias", {out}));
  return graph_.add(graph_.matmul(x, matrix, true), bias);
}

// [batch, tokens, hidden] -> [batch, heads, tokens, hidden / heads]
Result<Value> Builder::heads(Value x, const std::string& name) {
  LB_ASSIGN_OR_RETURN(const Value all, linear(x, name, config_.hidden_size, config_.hidden_size));
  const auto count = static_cast<std::int64_t>(config_.head_count);
  const auto width = static_cast<std::int64_t>(config_.hidden_size / config_.head_count);
  return graph_.transpose(graph_.reshape(all, {0, 0, count, width}), {0, 2, 1, 3});
}

Result<Value> Builder::embeddings() {
  const std::size_t hidden = config_.hidden_size;
  LB_ASSIGN_OR_RETURN(const Value words,
                      weight("embeddings.word_embeddings.weight", {config_.vocabulary_size, hidden}));
  LB_ASSIGN_OR_RETURN(const Value positions,
                      weight("embeddings.position_embeddings.weight", {config_.position_count, hidden}));
  LB_ASSIGN_OR_RETURN(const Value types,
                      weight("embeddings.token_type_embeddings.weight", {config_.token_type_count, hidden}));
  const Value word = graph_.gather(words, ids_, 0);
  const Value position = graph_.first_rows(positions, ids_);
  // A single text has type 0 throughout.
  const Value type = graph_.gather(types, graph_.constant(std::int64_t{0}), 0);
  return layer_norm(graph_.add(word, graph_.add(position, type)), "embeddings.LayerNorm");
}

Result<Value> Builder::attention(Value x, Value mask, const std::string& name) {
  LB_ASSIGN_OR_RETURN(const Value query, heads(x, name + ".self.query"));
  LB_ASSIGN_OR_RETURN(const Value key, heads(x, name + ".self.key"));
  LB_ASSIGN_OR_RETURN(const Value value, heads(x, name + ".self.value"));
  const std::size_t width = config_.hidden_size / config_.head_count;  // without a rest: the folder was checked
  const float scale = 1.0F / std::sqrt(static_cast<float>(width));
  const Value scores = graph_.multiply(graph_.matmul(query, key, true), graph_.constant(scale));
  const Value context = graph_.matmul(graph_.softmax(graph_.add(scores, mask)), value, false);
  const Value joined =
      graph_.reshape(graph_.transpose(context, {0, 2, 1, 3}), {0, 0, static_cast<std::int64_t>(config_.hidden_size)});
  return linear(joined, name + ".output.dense", config_.hidden_size, config_.hidden_size);
}

Result<Value> Builder::layer(Value x, Value mask, const std::string& name) {
  LB_ASSIGN_OR_RETURN(const Value attended, attention(x, mask, name + ".attention"));
  LB_ASSIGN_OR_RETURN(const Value middle, layer_norm(graph_.add(attended, x), name + ".attention.output.LayerNorm"));
  LB_ASSIGN_OR_RETURN(const Value wide,
                      linear(middle, name + ".intermediate.dense", config_.hidden_size, config_.intermediate_size));
  LB_ASSIGN_OR_RETURN(const Value narrow, linear(graph_.activation(activation_, wide), name + ".output.dense",
                                                 config_.intermediate_size, config_.hidden_size));
  return layer_norm(graph_.add(narrow, middle), name + ".output.LayerNorm");
}

Value Builder::pooled(Value states, PoolingMode mode) {
  switch (mode) {
    case PoolingMode::kCls:
      return graph_.gather(states, graph_.constant(std::int64_t{0}), 1);
    case PoolingMode::kMax: {
      const Value padding =
          graph_.multiply(graph_.subtract(graph_.constant(1.0F), mask_f32_), graph_.constant(kNeverMaximal));
      return graph_.reduce(Operator::kReduceMax, graph_.add(states, graph_.unsqueeze(padding, {2})), {1}, false);
    }
    case PoolingMode::kLastToken: {
      const Value count = graph_.reduce(Operator::kReduceSum, mask_, {1}, true);
      return graph_.gather_row(states, graph_.subtract(count, graph_.constant(std::int64_t{1})));
    }
    case PoolingMode::kMean:
      break;
  }
  // [batch, 1, tokens] x [batch, tokens, hidden]: one product in place of a masked copy of all states.
  const Value sum = graph_.squeeze(graph_.matmul(graph_.unsqueeze(mask_f32_, {1}), states, false), {1});
  const Value count = graph_.reduce(Operator::kReduceSum, mask_f32_, {1}, true);
  return graph_.divide(sum, graph_.maximum(count, graph_.constant(1e-9F)));
}

Value Builder::normalized(Value vector) {
  const Value length = graph_.reduce(Operator::kReduceL2, vector, {1}, true);
  return graph_.divide(vector, graph_.maximum(length, graph_.constant(1e-12F)));
}

Result<Graph> Builder::build(const ModelFolder& folder, const GraphOptions& options) {
  if (config_.activation == "gelu_tanh") activation_ = Operator::kGeluTanh;
  if (config_.activation == "relu") activation_ = Operator::kRelu;
  // Checkpoints of models with a head on top keep the encoder below "bert.".
  if (!weights_.contains("embeddings.word_embeddings.weight") &&
      weights_.contains("bert.embeddings.word_embeddings.weight")) {
    prefix_ = "bert.";
  }

  ids_ = graph_.input("input_ids", ElementType::kI64, {core::kDynamic, core::kDynamic});
  mask_ = graph_.input("attention_mask", ElementType::kI64, {core::kDynamic, core::kDynamic});
  mask_f32_ = graph_.convert(mask_, ElementType::kF32);
  // [batch, 1, 1, tokens], 0 for tokens and kMasked for padding, for all layers.
  const Value mask = graph_.multiply(graph_.subtract(graph_.constant(1.0F), graph_.unsqueeze(mask_f32_, {1, 2})),
                                     graph_.constant(kMasked));

  LB_ASSIGN_OR_RETURN(Value x, embeddings());
  for (std::size_t i = 0; i < config_.layer_count; ++i) {
    LB_ASSIGN_OR_RETURN(x, layer(x, mask, fmt::format("encoder.layer.{}", i)));
  }
  const auto hidden = static_cast<std::int64_t>(config_.hidden_size);
  if (options.hidden_states) {
    graph_.set_output(x, "last_hidden_state", {core::kDynamic, core::kDynamic, hidden});
    return std::move(graph_);
  }
  x = pooled(x, folder.pooling);
  if (folder.normalize) x = normalized(x);
  graph_.set_output(x, "sentence_embedding", {core::kDynamic, hidden});
  return std::move(graph_);
}

}  // namespace

Result<Graph> make_bert_graph(const ModelFolder& folder, const Safetensors& weights, const GraphOptions& options) {
  if (!folder.bert) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: config.json describes no model of the BERT family", folder.name()));
  }
  return Builder(*folder.bert, weights).build(folder, options);
}

}  // namespace latebind::embedding
