// Modules: the parts of a sentence-transformers model, as modules.json and the files that it names declare them.
//
// Source of the layout: sentence-transformers. A value; reading is a pure function of the files, safe for concurrent
// use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/operators.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/model_files.h"
#include "embedding/folder/router_file.h"
#include "embedding/folder/scoring_code.h"

namespace latebind::embedding {

// A file of weights, and the prefix of its tensors' names (ModelWeights).
struct WeightsFile {
  std::filesystem::path file;
  std::string place;
  bool of_auto_encoder = false;  // see linear_of_auto_encoder()
};

struct Modules {
  std::filesystem::path transformer{};  // the folder of config.json and the weights
  // StaticEmbedding replaces Transformer and Pooling. It has no config.json, and computes the mean.
  bool is_static = false;
  // For WordEmbeddings, which is such a table of words, the number of words that are read of a text. Pooling follows
  // it.
  std::optional<std::size_t> words_max = std::nullopt;
  // SparseStaticEmbedding replaces them: a table of weights (term_table.h), whose config.json describes no network.
  bool is_term_table = false;
  // The configuration of the pooling. Absent without a modules.json; default_pooling() decides then.
  std::optional<std::filesystem::path> pooling_file = std::nullopt;
  graph::PoolingMode pooling = graph::PoolingMode::kMean;
  // The network's pooler gives the text's vector, in place of Pooling, because sentence_bert_config.json requests its
  // output.
  bool takes_pooler = false;
  // If false, the pooling leaves out the tokens of a prompt.
  bool include_prompt = true;
  // The dimension of a token's vector in the pooling's configuration, and its key.
  struct TokenWidth {
    const char* key = nullptr;
    std::size_t numbers = 0;
  };
  std::vector<TokenWidth> token_widths{};
  std::vector<VectorModule> after_pooling{};
  bool normalize = false;
  // The last of `after_pooling` gives scores instead of a vector.
  bool scores = false;
  // The configuration of LogitScore, which follows the network: the logit of a token is the score.
  std::optional<std::filesystem::path> token_score_file = std::nullopt;
  // Without a modules.json, the code that makes a language model a reranker; null for other models.
  const ScoringCode* scoring = nullptr;
  // MLMTransformer replaces Transformer, and implies the task.
  bool scores_terms = false;
  // SpladePooling replaces Pooling: the network gives a number for each entry of the vocabulary.
  bool pools_terms = false;
  // If SparseAutoEncoder is the last module of `after_pooling`, the number of its largest latents that stay; otherwise
  // 0.
  std::size_t latents_kept = 0;
  // The model is a multi-vector encoder, and all modules after the network apply to each token's vector. `mask_file` is
  // the configuration of MultiVectorMask; `adds_token_ends` says that the loader adds such a module and Normalize.
  bool of_tokens = false;
  std::optional<std::filesystem::path> mask_file = std::nullopt;
  bool adds_token_ends = false;
  // The class that replaces Transformer for this network (Architecture::own_module), and how it pools; empty for other
  // networks.
  std::string_view own_module{};
  std::optional<graph::PoolingMode> own_pooling = std::nullopt;
  // The folder has a modules.json. Otherwise the other files of sentence-transformers are not read.
  bool listed = false;
  // Set if these modules are one of two routes.
  std::optional<RouterFile> router = std::nullopt;
  std::vector<std::filesystem::path> files{};  // the files that were read, except the pooling's
  std::vector<WeightsFile> weights{};          // the weights of the modules after the pooling

  // Returns whether the first module is a network whose pooler may give the text's vector.
  [[nodiscard]] bool may_have_pooler() const { return !is_static && !is_term_table && !of_tokens; }
  // Returns whether no module follows the network. Without a modules.json, the network's output is pooled unless it has
  // a head for scores.
  [[nodiscard]] bool only_network() const { return !pooling_file && (!is_static || words_max) && !of_tokens; }
};

// Reads the modules for texts with this role; the role matters only for a router. `own` is
// config_sentence_transformers.json, `config` is config.json beside modules.json. Returns kNotFound, kInvalidModel or
// kUnsupported, naming the file and the fault.
[[nodiscard]] core::Result<Modules> read_modules(const ModelFiles& files, const ConfigFile& own,
                                                 const std::optional<core::Json>& config,
                                                 TextRole role = TextRole::kUnspecified);

// Returns a description of the modules after the pooling, for people and programs.
[[nodiscard]] core::Json describe_modules(std::span<const VectorModule> modules);
// Reads a module's configuration. Returns kNotFound if the file does not exist.
[[nodiscard]] core::Result<core::Json> read_module_config(const ModelFiles& files, const std::filesystem::path& file);

}  // namespace latebind::embedding
