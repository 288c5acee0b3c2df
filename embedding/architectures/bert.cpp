#include "embedding/architectures/bert.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_text.h"
#include "core/text/quote.h"
#include "embedding/refusals.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::printable;
using core::read_bool;
using core::read_size;
using core::read_text;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using graph::Value;
using graph::Weight;
using nlohmann::json;
using std::filesystem::path;

// Limits of sizes beside those of every network; the largest models of the family are an order of magnitude below.
constexpr std::size_t kLayersMax = 128;
constexpr std::size_t kHeadsMax = 256;
constexpr std::size_t kIntermediateMax = 65536;
constexpr std::size_t kVocabularyMax = std::size_t{1} << 22;
constexpr std::size_t kTokenTypesMax = 1024;

// The activations of transformers, by the formula behind the name.
Result<graph::ActivationFunction> activation_of(const std::string& name, const path& file) {
  if (name == "gelu" || name == "gelu_python") return graph::ActivationFunction::kGeluErf;
  if (name == "gelu_new" || name == "gelu_fast" || name == "gelu_pytorch_tanh")
    return graph::ActivationFunction::kGeluTanh;
  if (name == "relu") return graph::ActivationFunction::kRelu;
  return unsupported_file(file, fmt::format("'hidden_act' is '{}'; supported are gelu, gelu_new, gelu_fast, "
                                            "gelu_pytorch_tanh and relu",
                                            printable(name)));
}

// What would change the numbers and is not implemented.
Status refuse_variants(const json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const std::string positions, read_text(config, "position_embedding_type", "absolute", name));
  if (positions != "absolute") {
    return unsupported_file(
        file, fmt::format("'position_embedding_type' is '{}'; only absolute is supported", printable(positions)));
  }
  for (const char* key : {"is_decoder", "add_cross_attention", "is_encoder_decoder"}) {
    LB_ASSIGN_OR_RETURN(const bool on, read_bool(config, key, false, name));
    if (on) return unsupported_file(file, fmt::format("'{}' is true: only encoders are supported", key));
  }
  const auto pruned = config.find("pruned_heads");
  if (pruned != config.end() && !pruned->is_null() && !pruned->empty()) {
    return unsupported_file(file, "'pruned_heads' is not empty: pruned models are not supported");
  }
  if (config.contains("quantization_config")) {
    return unsupported_file(file, "'quantization_config': quantized checkpoints are not supported");
  }
  return {};
}

class Builder {
 public:
  Builder(const BertConfig& config, const Safetensors& weights)
      : config_(config), weights_(weights), graph_(weights.part()) {}

  Result<graph::Graph> build(const NetworkEnd& end);

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
  const Value active = graph_.add(graph::Activation{.x = wide, .function = config_.activation});
  LB_ASSIGN_OR_RETURN(const Value narrow, linear(active, name + ".output.dense", config_.intermediate_size, hidden));
  return layer_norm(graph_.add(graph::Add{.a = narrow, .b = middle}), name + ".output.LayerNorm");
}

Result<graph::Graph> Builder::build(const NetworkEnd& end) {
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
  if (end.hidden_states) return std::move(graph_).finish(x, "last_hidden_state");
  x = graph_.add(graph::Pool{.x = x, .mask = mask, .mode = end.pooling});
  if (end.normalize) x = graph_.add(graph::Normalize{.x = x});
  return std::move(graph_).finish(x, "sentence_embedding");
}

class BertNetwork final : public Network {
 public:
  explicit BertNetwork(const BertConfig& config) : config_(config) {}

  [[nodiscard]] std::size_t vocabulary_size() const override { return config_.vocabulary_size; }
  [[nodiscard]] std::size_t tokens_max() const override { return config_.position_count; }
  [[nodiscard]] Result<graph::Graph> make_graph(const Safetensors& weights, const NetworkEnd& end) const override {
    return make_bert_graph(config_, weights, end);
  }

 private:
  const BertConfig config_;
};

}  // namespace

Result<BertConfig> read_bert_config(const json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  BertConfig bert;
  struct Field {
    const char* key;
    std::size_t most;
    std::size_t* value;
  };
  for (const Field& field : {Field{"hidden_size", kHiddenSizeMax, &bert.hidden_size},
                             Field{"num_hidden_layers", kLayersMax, &bert.layer_count},
                             Field{"num_attention_heads", kHeadsMax, &bert.head_count},
                             Field{"intermediate_size", kIntermediateMax, &bert.intermediate_size},
                             Field{"vocab_size", kVocabularyMax, &bert.vocabulary_size},
                             Field{"max_position_embeddings", kTokensMax, &bert.position_count},
                             Field{"type_vocab_size", kTokenTypesMax, &bert.token_type_count}}) {
    LB_ASSIGN_OR_RETURN(const auto value, read_size(config, field.key, 1, field.most, name));
    if (!value) return invalid_file(file, fmt::format("'{}' is missing", field.key));
    *field.value = *value;
  }
  if (bert.hidden_size % bert.head_count != 0) {
    return invalid_file(file, fmt::format("'hidden_size' {} is no multiple of 'num_attention_heads' {}",
                                          bert.hidden_size, bert.head_count));
  }
  if (const auto epsilon = config.find("layer_norm_eps"); epsilon != config.end() && !epsilon->is_null()) {
    const double value = epsilon->is_number() ? epsilon->get<double>() : -1;
    if (!(value >= 0 && value <= 0.1)) {
      return invalid_file(file, fmt::format("'layer_norm_eps' is {}, must be between 0 and 0.1",
                                            printable(epsilon->dump(-1, ' ', false, json::error_handler_t::replace))));
    }
    bert.layer_norm_epsilon = static_cast<float>(value);
  }
  LB_ASSIGN_OR_RETURN(const std::string activation, read_text(config, "hidden_act", "gelu", name));
  LB_ASSIGN_OR_RETURN(bert.activation, activation_of(activation, file));
  return bert;
}

Result<std::shared_ptr<const Network>> read_bert(const json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(const BertConfig bert, read_bert_config(config, file));
  return std::shared_ptr<const Network>(std::make_shared<const BertNetwork>(bert));
}

Result<graph::Graph> make_bert_graph(const BertConfig& config, const Safetensors& weights, const NetworkEnd& end) {
  return Builder(config, weights).build(end);
}

}  // namespace latebind::embedding
