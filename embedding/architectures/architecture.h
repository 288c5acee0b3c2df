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
#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/classifier_head.h"
#include "embedding/architectures/vocabulary_head.h"
#include "embedding/model_weights.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

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

// What a network computes: a vector per token, a vector of the text, or a number per label or vocabulary entry.
struct NetworkEnd {
  bool hidden_states = false;
  // Returns each token's vector, after `modules` and `normalize`, instead of the text's. `may_be_unattended` says
  // whether the mask may then contain graph::kUnattended.
  bool token_vectors = false;
  bool may_be_unattended = false;
  // Makes the token types an input of networks with several types, for texts of two parts. Otherwise all tokens have
  // the first type.
  bool token_types = false;
  // If set, either of these replaces the members below.
  std::optional<ClassifierHead> classifier = std::nullopt;
  std::optional<VocabularyHead> vocabulary = std::nullopt;
  // With `vocabulary`, returns the numbers of every token instead of their maximum.
  bool terms_of_tokens = false;
  graph::PoolingMode pooling = graph::PoolingMode::kMean;
  std::vector<VectorModule> modules{};
  bool normalize = false;
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

  // Builds the graph. Its inputs are `input_ids`, `attention_mask` and, depending on `end`, `token_type_ids`, all i64
  // [batch, tokens], with texts padded at the end. Its output is one of
  //
  //   sentence_embedding  [batch, dimension]
  //   logits              [batch, labels], or [batch, tokens, vocabulary] with `terms_of_tokens`
  //   last_hidden_state   [batch, tokens, hidden]
  //   token_vectors       [batch, tokens, dimension]
  //   term_logits         [batch, vocabulary], the maximum over the tokens for each vocabulary entry
  //
  // The graph shares ownership of `weights.parts()`. Returns kInvalidModel or kUnsupported, naming the tensor.
  [[nodiscard]] virtual core::Result<graph::Graph> make_graph(const ModelWeights& weights,
                                                              const NetworkEnd& end) const = 0;
};

struct Architecture {
  std::string_view model_type;  // in config.json
  std::string_view name;        // for people
  // What its vectors were compared with, as part of a sentence in the list of models.
  std::string_view checked;
  // Which of its variants are not supported, for the same list. Empty if only what every architecture refuses.
  std::string_view refused{};
  // For model folders without a tokenizer.json.
  TokenizerOfNetwork tokenizer{};
  // Reads config.json, which messages call `file`. Returns kInvalidModel or kUnsupported, naming the key.
  core::Result<std::shared_ptr<const Network>> (*read)(const nlohmann::json& config, const std::filesystem::path& file);
  // Null if networks for sequence classification, or for masked language modelling, are not supported.
  ReadClassifierHead* read_classifier = nullptr;
  ReadVocabularyHead* read_vocabulary = nullptr;
};

[[nodiscard]] std::span<const Architecture> architectures();
// Returns null for an unknown type.
[[nodiscard]] const Architecture* find_architecture(std::string_view model_type);
// Returns the tokenizer of the architecture that config.json names, or an empty one if that is unknown.
[[nodiscard]] TokenizerOfNetwork tokenizer_of_network(const nlohmann::json& config);
// Returns the end of a message about an unknown `model_type`: "; the nearest name that works is …; …".
[[nodiscard]] std::string known_architectures(std::string_view model_type);

}  // namespace latebind::embedding
