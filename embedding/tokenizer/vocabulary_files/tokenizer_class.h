// TokenizerClass: the class of transformers that makes the tokenizer of a model folder without a tokenizer.json, and
// the files that it makes it from.
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

#include "core/json.h"
#include "core/json_text.h"
#include "core/result.h"

namespace latebind::embedding {

// tokenizer_config.json may list every added token.
inline constexpr core::JsonLimits kTokenizerConfigLimits{.bytes_max = std::size_t{16} << 20};

// What a folder has of these beside its vocabulary. All are read, where they are there.
inline constexpr std::string_view kTokenizerConfigFile = "tokenizer_config.json";
inline constexpr std::string_view kSpecialTokensFile = "special_tokens_map.json";
inline constexpr std::string_view kAddedTokensFile = "added_tokens.json";

// What transformers' tokenizers do by tokenizer_config.json, whether there is a tokenizer.json or not, and we do not:
// kUnsupported, naming file and key.
[[nodiscard]] core::Status refuse_tokenizer_options(const nlohmann::json& tokenizer_config);

// The name of a tokenizer's class as our tables have it: with "Fast" at its end it means the same.
[[nodiscard]] constexpr std::string_view without_fast(std::string_view name) {
  return name.ends_with("Fast") ? name.substr(0, name.size() - 4) : name;
}

struct TokenizerClass {
  enum class Kind : std::uint8_t { kBert, kMpnet, kRoberta, kGpt2, kQwen2, kXlmRoberta, kCamembert, kAlbert };

  std::string_view name;  // without_fast()
  Kind kind = Kind::kBert;
  std::string_view vocabulary_file;
  std::string_view merges_file{};  // empty: the class has none
};

// What transformers knows of the tokenizers of a kind of network.
struct TokenizerOfNetwork {
  // Where no file names a class. Empty: one must.
  std::string_view tokenizer_class{};
  // It reads nothing but a tokenizer.json, whatever class files name.
  bool needs_tokenizer_json = false;
};

// By the tokenizer_class of tokenizer_config.json, else that of config.json, else the network's. kUnsupported for one
// that is not known, and where the tokenizer is code; messages name the file.
[[nodiscard]] core::Result<const TokenizerClass*> find_tokenizer_class(
    const nlohmann::json& config, const std::optional<nlohmann::json>& tokenizer_config,
    const TokenizerOfNetwork& network);

// Whether the tokenizer tells a network the types of tokens: by model_input_names of tokenizer_config.json, else by its
// class, which is found as above. Source: transformers 5.
[[nodiscard]] bool tells_token_types(const nlohmann::json& config,
                                     const std::optional<nlohmann::json>& tokenizer_config,
                                     const TokenizerOfNetwork& network);

// What makes the tokenizer of a folder that has no tokenizer.json.
struct FoundTokenizer {
  // Null: some of its files are missing.
  const TokenizerClass* made_by = nullptr;
  std::string missing{};  // for messages
  // By their names in the folder: those that are read instead of a tokenizer.json.
  std::vector<std::string> files{};
};
// `has` says whether the folder has a file of this name. The errors of find_tokenizer_class(), in a folder with any
// vocabulary.
[[nodiscard]] core::Result<FoundTokenizer> find_vocabulary_files(const std::function<bool(std::string_view name)>& has,
                                                                 const nlohmann::json& config,
                                                                 const std::optional<nlohmann::json>& tokenizer_config,
                                                                 const TokenizerOfNetwork& network);

// All that are known, for lists.
[[nodiscard]] std::span<const TokenizerClass> known_tokenizer_classes();

}  // namespace latebind::embedding
