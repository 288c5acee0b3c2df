// Modules: what modules.json and the files that it leads to say of the parts of a model of sentence-transformers.
//
// Source of the layout: sentence-transformers. A value; reading is a pure function of the files, for any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/graph/operators.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/encoder_kind.h"
#include "embedding/model_files.h"
#include "embedding/router.h"
#include "embedding/sparse_vector.h"

namespace latebind::embedding {

// A file of weights, and what stands before the names of its tensors (ModelWeights).
struct WeightsFile {
  std::filesystem::path file;
  std::string place;
};

struct Modules {
  std::filesystem::path transformer{};  // folder of config.json and the weights
  // StaticEmbedding instead of Transformer and Pooling: it has no config.json, and gives the mean.
  bool is_static = false;
  // SparseStaticEmbedding instead: a table of weights (term_table.h), whose config.json describes no network.
  bool is_term_table = false;
  // Its configuration; without modules.json there is none, and the pooling is what default_pooling() says.
  std::optional<std::filesystem::path> pooling_file = std::nullopt;
  graph::PoolingMode pooling = graph::PoolingMode::kMean;
  // False: the pooling leaves out the tokens of a prompt.
  bool include_prompt = true;
  // What a token's vector must have by the pooling's configuration, and the key that says so.
  struct TokenWidth {
    const char* key = nullptr;
    std::size_t numbers = 0;
  };
  std::vector<TokenWidth> token_widths{};
  std::vector<VectorModule> behind{};  // the pooling
  bool normalize = false;
  // The last of `behind` gives scores instead of a vector.
  bool scores = false;
  // MLMTransformer instead of Transformer, which needs no task then.
  bool scores_terms = false;
  // SpladePooling instead of Pooling: the network gives a number for each entry of the vocabulary.
  std::optional<SparseRule> sparse = std::nullopt;
  // Of a multi-vector encoder: all behind the network is for each token's vector. What MultiVectorMask says of them,
  // and whether who loads the model puts such a module and Normalize behind the others.
  bool of_tokens = false;
  std::optional<std::filesystem::path> mask_file = std::nullopt;
  bool adds_token_ends = false;
  // False without modules.json: then its companions are not read either.
  bool listed = false;
  // What is first in the list, where these are the modules of one of its ways.
  std::optional<Router> router = std::nullopt;
  std::vector<std::filesystem::path> files{};  // that were read, besides the pooling's
  std::vector<WeightsFile> weights{};          // of the modules behind pooling

  // There is no more than the network: without modules.json it is pooled, where it is not its own way to scores.
  [[nodiscard]] bool only_network() const { return !pooling_file && !is_static && !of_tokens; }
};

// Those of texts with this role, where a router has different ones. `own` is config_sentence_transformers.json,
// `config` config.json beside modules.json. kNotFound, kInvalidModel or kUnsupported, naming the file and what it has.
[[nodiscard]] core::Result<Modules> read_modules(const ModelFiles& files, const ConfigFile& own,
                                                 const std::optional<nlohmann::json>& config,
                                                 TextRole role = TextRole::kUnsaid);

// The object in a file that may be missing.
[[nodiscard]] core::Result<std::optional<nlohmann::json>> read_object(const ModelFiles& files,
                                                                      const std::filesystem::path& file,
                                                                      const core::JsonLimits& limits = {});

}  // namespace latebind::embedding
