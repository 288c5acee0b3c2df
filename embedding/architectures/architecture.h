// Architecture is a family of networks for which Latebind builds graphs. architectures.cpp has the only list of
// architectures; no other file names one.
//
// The list is constant, and a Network is immutable. Any thread may use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/graph.h"
#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/classifier_head.h"
#include "embedding/architectures/token_head.h"
#include "embedding/architectures/vocabulary_head.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/weights/model_weights.h"

namespace latebind::embedding {

// Limits for every network. The largest published ones are an order of magnitude below.
inline constexpr std::size_t kHiddenSizeMax = 16384;
inline constexpr std::size_t kTokensMax = std::size_t{1} << 17;

// The modules of sentence-transformers that follow pooling. The names of a module's tensors begin with its `place`.
enum class Residual : std::uint8_t {
  kNone,
  kAsItIs,     // adds the input to the output
  kProjected,  // adds the input multiplied by a separate matrix
};
struct DenseModule {
  std::string place;
  std::size_t in = 0;
  std::size_t out = 0;
  bool has_bias = true;
  std::optional<graph::ActivationFunction> activation = std::nullopt;
  Residual residual = Residual::kNone;
};
struct LayerNormModule {
  std::string place;
  std::size_t width = 0;
};
using VectorModule = std::variant<DenseModule, LayerNormModule>;

// One end of a network: what it computes. If none of the first five members is set, it is the text's vector: the
// tokens' vectors pooled, after `modules` and `normalize`.
struct NetworkEnd {
  bool hidden_states = false;                               // each token's vector, as the encoder returns it
  bool token_vectors = false;                               // each token's vector, after `modules` and `normalize`
  std::optional<ClassifierHead> classifier = std::nullopt;  // a number for each label
  std::optional<VocabularyHead> vocabulary = std::nullopt;  // a number for each entry of the vocabulary
  std::optional<TokenHead> token = std::nullopt;            // the logit of one token, or the difference of two
  // With `vocabulary`, returns the numbers of every token instead of their maximum.
  bool terms_of_tokens = false;
  graph::PoolingMode pooling = graph::PoolingMode::kMean;
  std::string pooler{};  // the network's pooler layer; empty for none
  std::vector<VectorModule> modules{};
  bool normalize = false;
};

// The purpose for which a graph is built.
struct NetworkUse {
  // At least one. One forward pass computes all of them, in this order.
  std::vector<NetworkEnd> ends{NetworkEnd()};
  // Makes the token types an input of networks with several types, for texts of two parts. Otherwise all tokens have
  // the first type.
  bool token_types = false;
  // Whether the mask may contain graph::kUnattended.
  bool may_be_unattended = false;
};

// A network as described by config.json, checked, without its weights.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  // The number of token ids; all smaller ids are valid.
  [[nodiscard]] virtual std::size_t vocabulary_size() const = 0;
  // The size of a token's vector.
  [[nodiscard]] virtual std::size_t hidden_size() const = 0;
  // The length of the longest text, including special tokens.
  [[nodiscard]] virtual std::size_t tokens_max() const = 0;

  // Returns the tasks for which the network's files have low-rank parts, in the order of their numbers, from 1.
  [[nodiscard]] virtual std::span<const std::string> tasks() const { return {}; }

  // Builds the graph. Its inputs are `input_ids`, `attention_mask` and, depending on `use`, `token_type_ids`. If
  // there are tasks, it also has `task_ids`, with the number of a text's task at each of its tokens, or 0 for no task.
  // All are i64 [batch, tokens], with texts padded at the end. It has one output for each end, which is one of
  //
  //   sentence_embedding  [batch, dimension]
  //   logits              [batch, labels], or [batch, tokens, vocabulary] with `terms_of_tokens`, or [batch, 1] with
  //                       `token`
  //   last_hidden_state   [batch, tokens, hidden]
  //   token_vectors       [batch, tokens, dimension]
  //   term_logits         [batch, vocabulary], the maximum over the tokens for each vocabulary entry
  //
  // The graph shares ownership of `weights.parts()`. Returns kInvalidModel or kUnsupported, naming the tensor.
  [[nodiscard]] virtual core::Result<graph::Graph> make_graph(const ModelWeights& weights,
                                                              const NetworkUse& use) const = 0;
};

struct Architecture {
  std::string_view model_type;  // in config.json
  std::string_view name;        // for people
  // The reference of its vectors, as part of a sentence in the list of models.
  std::string_view checked;
  // Which of its variants are not supported, for the same list. Empty if only what every architecture refuses.
  std::string_view refused{};
  // For model folders without a tokenizer.json.
  TokenizerOfNetwork tokenizer{};
  // Reads config.json, which messages call `file`. Returns kInvalidModel or kUnsupported, naming the key.
  core::Result<std::shared_ptr<const Network>> (*read)(const core::Json& config, const std::filesystem::path& file);
  // The name of the network's pooler: a linear layer and tanh, applied to the first token's vector. Empty if the
  // network has no pooler.
  std::string_view pooler{};
  // The class that modules.json of published files names in place of sentence-transformers' Transformer, and a key that
  // config.json then has. Empty if published files name Transformer.
  std::string_view own_module{};
  std::string_view own_module_key{};
  // Set if that class also pools the tokens' vectors in this way, and normalises.
  std::optional<graph::PoolingMode> own_module_pools = std::nullopt;
  // Published files have an adapter in a folder for each task that config.json lists in "task_names".
  bool needs_task_adapters = false;
  // Null if networks for sequence classification, for masked language modelling, or for language modelling, are not
  // supported.
  ReadClassifierHead* read_classifier = nullptr;
  ReadVocabularyHead* read_vocabulary = nullptr;
  ReadTokenHead* read_token = nullptr;
};

[[nodiscard]] std::span<const Architecture> architectures();
// Returns null for an unknown type.
[[nodiscard]] const Architecture* find_architecture(std::string_view model_type);
// Returns the tokenizer of the architecture that config.json names, or an empty one if that is unknown.
[[nodiscard]] TokenizerOfNetwork tokenizer_of_network(const core::Json& config);
// Returns the end of a message about an unknown `model_type`: "; the nearest name that works is …; …".
[[nodiscard]] std::string known_architectures(std::string_view model_type);

}  // namespace latebind::embedding
