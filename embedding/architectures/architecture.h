// Architecture: a family of networks for which graphs are built here. architectures.cpp has the only list of them; no
// other file names one.
//
// What is in the list is constant; a Network is immutable. Any thread.
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
#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/classifier_head.h"
#include "embedding/architectures/vocabulary_head.h"
#include "embedding/model_weights.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {

// Limits of every network, whoever reads it; the largest are an order of magnitude below.
inline constexpr std::size_t kHiddenSizeMax = 16384;
inline constexpr std::size_t kTokensMax = std::size_t{1} << 17;

// What follows pooling, as the modules of sentence-transformers: the names of a module's tensors are behind its
// `place`.
enum class Residual : std::uint8_t {
  kNone,
  kAsItIs,     // what goes in is added to what comes out
  kProjected,  // by a matrix of its own
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

// One end of a network: what comes out there. Without any of the first four it is the text's vector: tokens pooled, and
// behind `modules` and `normalize`.
struct NetworkEnd {
  bool hidden_states = false;                               // each token's vector, as the encoder gives it
  bool token_vectors = false;                               // each token's vector, behind `modules` and `normalize`
  std::optional<ClassifierHead> classifier = std::nullopt;  // a number for each label
  std::optional<VocabularyHead> vocabulary = std::nullopt;  // a number for each entry of the vocabulary
  // The vocabulary's numbers of each token, instead of the largest of all tokens.
  bool terms_of_tokens = false;
  graph::PoolingMode pooling = graph::PoolingMode::kMean;
  std::vector<VectorModule> modules{};
  bool normalize = false;
};

// What a graph is made for.
struct NetworkUse {
  // At least one. One forward pass gives all of them, in this order.
  std::vector<NetworkEnd> ends{NetworkEnd()};
  // The types of tokens are an input, if the network has several: a text of two parts. Else all have the first one.
  bool token_types = false;
  // The mask may have graph::kUnattended.
  bool may_be_unattended = false;
};

// A model's config.json, read and checked: its network, without the weights.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  // Ids from 0 to below this have a vector.
  [[nodiscard]] virtual std::size_t vocabulary_size() const = 0;
  // Numbers of a token's vector.
  [[nodiscard]] virtual std::size_t hidden_size() const = 0;
  // The longest text that it takes, special tokens included.
  [[nodiscard]] virtual std::size_t tokens_max() const = 0;

  // Inputs `input_ids`, `attention_mask` and, as `use` says, `token_type_ids`, i64 [batch, tokens], texts padded at
  // their ends; an output for each end: `sentence_embedding` [batch, dimension], `logits` [batch, labels],
  // `last_hidden_state` [batch, tokens, hidden], `token_vectors` [batch, tokens, dimension], `term_logits` [batch,
  // vocabulary], the largest number that a token has for each entry of the vocabulary, or `logits` [batch, tokens,
  // vocabulary], all of them. kInvalidModel or kUnsupported, naming the tensor. The graph keeps `weights.parts()`.
  [[nodiscard]] virtual core::Result<graph::Graph> make_graph(const ModelWeights& weights,
                                                              const NetworkUse& use) const = 0;
};

struct Architecture {
  std::string_view model_type;  // in config.json
  std::string_view name;        // as people call it
  // What its vectors were compared with, for the list of models: a sentence's part.
  std::string_view checked;
  // What of it is refused, for the same list; empty where that is what all refuse.
  std::string_view refused{};
  // For folders without a tokenizer.json.
  TokenizerOfNetwork tokenizer{};
  // `file` stands for config.json in messages. kInvalidModel or kUnsupported, naming the key.
  core::Result<std::shared_ptr<const Network>> (*read)(const nlohmann::json& config, const std::filesystem::path& file);
  // Null where its networks for sequence classification, or for masked language modelling, are not known.
  ReadClassifierHead* read_classifier = nullptr;
  ReadVocabularyHead* read_vocabulary = nullptr;
};

[[nodiscard]] std::span<const Architecture> architectures();
// Null when unknown.
[[nodiscard]] const Architecture* find_architecture(std::string_view model_type);
// Of the one that config.json names; nothing is known of others.
[[nodiscard]] TokenizerOfNetwork tokenizer_of_network(const nlohmann::json& config);
// For messages about a `model_type` that is not among them: "; the nearest name that works is …; …".
[[nodiscard]] std::string known_architectures(std::string_view model_type);

}  // namespace latebind::embedding
