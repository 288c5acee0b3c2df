// TokenizerClass: the transformers class that makes the tokenizer of a model folder without a tokenizer.json, and the
// files from which it makes it.
//
// Source: transformers 5.24, AutoTokenizer. Values of static storage; pure functions, any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/read.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

// tokenizer_config.json may list every added token.
inline constexpr core::JsonLimits kTokenizerConfigLimits{.bytes_max = std::size_t{16} << 20};

// Optional files beside the vocabulary, which are read if they exist.
inline constexpr std::string_view kTokenizerConfigFile = "tokenizer_config.json";
inline constexpr std::string_view kSpecialTokensFile = "special_tokens_map.json";
inline constexpr std::string_view kAddedTokensFile = "added_tokens.json";

// Returns kUnsupported, naming file and key, for options of tokenizer_config.json that transformers' tokenizers apply,
// with or without a tokenizer.json, and Latebind does not.
[[nodiscard]] core::Status refuse_tokenizer_options(const core::Json& tokenizer_config);

// The name of a tokenizer class in the tables here: "Fast" at its end does not change its meaning.
[[nodiscard]] constexpr std::string_view without_fast(std::string_view name) {
  return name.ends_with("Fast") ? name.substr(0, name.size() - 4) : name;
}

struct TokenizerClass {
  enum class Kind : std::uint8_t {
    kBert,
    kMpnet,
    kRoberta,
    kGpt2,
    kQwen2,
    kXlmRoberta,
    kCamembert,
    kAlbert,
    kDeberta,
    kDebertaV2
  };

  std::string_view name;  // without_fast()
  Kind kind = Kind::kBert;
  std::string_view vocabulary_file;
  std::string_view merges_file{};  // empty: the class has none
};

// What transformers knows about the tokenizers of a kind of network.
struct TokenizerOfNetwork {
  // The class if no file names one. Empty: a file must name one.
  std::string_view tokenizer_class{};
  // Whether the network requires a tokenizer.json, whatever class the files name.
  bool needs_tokenizer_json = false;
  // Whether the class is used whatever class the files name.
  bool is_always_used = false;
};

// Finds the class by the tokenizer_class of tokenizer_config.json, else that of config.json, else the network's.
// Returns kUnsupported for an unknown class, and if the tokenizer is code; messages name the file.
[[nodiscard]] core::Result<const TokenizerClass*> find_tokenizer_class(
    const core::Json& config, const std::optional<core::Json>& tokenizer_config, const TokenizerOfNetwork& network);

// Whether the tokenizer gives the network token types, according to model_input_names of tokenizer_config.json, or else
// to its class, which is found as above. Source: transformers 5.
[[nodiscard]] bool tells_token_types(const core::Json& config, const std::optional<core::Json>& tokenizer_config,
                                     const TokenizerOfNetwork& network);

// The tokenizer of a folder without a tokenizer.json.
struct FoundTokenizer {
  // Null if some of its files are missing.
  const TokenizerClass* made_by = nullptr;
  std::string missing{};  // for messages
  // The names of the files in the folder that are read instead of a tokenizer.json.
  std::vector<std::string> files{};
};
// `has` says whether the folder has a file of this name. Returns the errors of find_tokenizer_class() for a folder with
// any vocabulary.
[[nodiscard]] core::Result<FoundTokenizer> find_vocabulary_files(const std::function<bool(std::string_view name)>& has,
                                                                 const core::Json& config,
                                                                 const std::optional<core::Json>& tokenizer_config,
                                                                 const TokenizerOfNetwork& network);

// All known classes, for lists.
[[nodiscard]] std::span<const TokenizerClass> known_tokenizer_classes();

}  // namespace latebind::embedding
