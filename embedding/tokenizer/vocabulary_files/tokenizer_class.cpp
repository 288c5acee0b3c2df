#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/text/nearest_word.h"
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;
using Kind = TokenizerClass::Kind;

constexpr std::string_view kWordPieces = "vocab.txt";
constexpr std::string_view kBytePairs = "vocab.json";
constexpr std::string_view kMerges = "merges.txt";
constexpr std::string_view kSentencePieces = "sentencepiece.bpe.model";

constexpr std::array kClasses{
    TokenizerClass{"BertTokenizer", Kind::kBert, kWordPieces},
    TokenizerClass{"DistilBertTokenizer", Kind::kBert, kWordPieces},
    TokenizerClass{"ElectraTokenizer", Kind::kBert, kWordPieces},
    TokenizerClass{"MPNetTokenizer", Kind::kMpnet, kWordPieces},
    TokenizerClass{"RobertaTokenizer", Kind::kRoberta, kBytePairs, kMerges},
    TokenizerClass{"GPT2Tokenizer", Kind::kGpt2, kBytePairs, kMerges},
    TokenizerClass{"Qwen2Tokenizer", Kind::kQwen2, kBytePairs, kMerges},
    TokenizerClass{"XLMRobertaTokenizer", Kind::kXlmRoberta, kSentencePieces},
    TokenizerClass{"CamembertTokenizer", Kind::kCamembert, kSentencePieces},
    TokenizerClass{"AlbertTokenizer", Kind::kAlbert, "spiece.model"},
    TokenizerClass{"DebertaTokenizer", Kind::kDeberta, kBytePairs, kMerges},
    TokenizerClass{"DebertaV2Tokenizer", Kind::kDebertaV2, "spm.model"},
};

// `name` is that of an unknown class, or empty.
Status needs_tokenizer_json(std::string_view what, std::string_view name = {}) {
  const auto names = core::words_of(kClasses, &TokenizerClass::name);
  return {StatusCode::kUnsupported,
          fmt::format("{} needs a tokenizer.json{}", what,
                      core::supported_instead(name, names,
                                              fmt::format("without one, these work: {}", fmt::join(names, ", "))))};
}

// Whether the tokenizer is made by code that the model contains.
bool is_code(const Json& tokenizer_config) {
  const auto* const map = core::find_member(tokenizer_config, "auto_map");
  if (map == nullptr) return false;
  if (!map->is_object()) return true;
  return core::find_member(*map, "AutoTokenizer") != nullptr;
}

}  // namespace

Status refuse_tokenizer_options(const Json& tokenizer_config) {
  LB_ASSIGN_OR_RETURN(const bool splits,
                      core::read_bool(tokenizer_config, "split_special_tokens", false, kTokenizerConfigFile));
  if (splits) {
    return {StatusCode::kUnsupported,
            fmt::format("{}: 'split_special_tokens' is true, which is not supported", kTokenizerConfigFile)};
  }
  LB_ASSIGN_OR_RETURN(const std::string side,
                      core::read_text(tokenizer_config, "truncation_side", "right", kTokenizerConfigFile));
  if (side == "right") return {};
  return {StatusCode::kUnsupported,
          fmt::format("{}: 'truncation_side' is {} (supported: 'right')", kTokenizerConfigFile, core::quoted(side))};
}

bool tells_token_types(const Json& config, const std::optional<Json>& tokenizer_config,
                       const TokenizerOfNetwork& network) {
  static constexpr std::array<std::string_view, 8> kClassesWithTypes{
      "BertTokenizer",    "ConvBertTokenizer", "DebertaTokenizer",    "DebertaV2Tokenizer",
      "ElectraTokenizer", "LayoutLMTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer"};
  const auto text_in = [](const Json& object, const char* key) -> std::string_view {
    const auto* const found = core::find_member(object, key);
    if (found == nullptr || !found->is_string()) return {};
    return found->text();
  };
  std::string_view name;
  if (tokenizer_config) {
    const auto* const inputs = core::find_member(*tokenizer_config, "model_input_names");
    if (inputs != nullptr && inputs->is_array())
      return std::ranges::find(*inputs, Json("token_type_ids")) != inputs->end();
    name = text_in(*tokenizer_config, "tokenizer_class");
  }
  if (name.empty()) name = text_in(config, "tokenizer_class");
  if (name.empty()) name = network.tokenizer_class;
  return std::ranges::find(kClassesWithTypes, without_fast(name)) != kClassesWithTypes.end();
}

std::span<const TokenizerClass> known_tokenizer_classes() {
  return kClasses;
}

Result<const TokenizerClass*> find_tokenizer_class(const Json& config, const std::optional<Json>& tokenizer_config,
                                                   const TokenizerOfNetwork& network) {
  LB_ASSIGN_OR_RETURN(const std::string type, core::read_text(config, "model_type", "", "config.json"));
  std::string name;
  std::string what;
  if (tokenizer_config) {
    if (is_code(*tokenizer_config)) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format(
              "{}: 'auto_map' names code that makes the tokenizer, which is not supported without a tokenizer.json",
              kTokenizerConfigFile));
    }
    LB_ASSIGN_OR_RETURN(name, core::read_text(*tokenizer_config, "tokenizer_class", "", kTokenizerConfigFile));
    what = fmt::format("{}: 'tokenizer_class' {}", kTokenizerConfigFile, core::quoted(name));
  }
  if (name.empty()) {
    LB_ASSIGN_OR_RETURN(name, core::read_text(config, "tokenizer_class", "", "config.json"));
    what = fmt::format("config.json: 'tokenizer_class' {}", core::quoted(name));
  }
  if (network.needs_tokenizer_json || network.is_always_used || name.empty()) {
    what = fmt::format("config.json: 'model_type' {}", core::quoted(type));
    if (network.needs_tokenizer_json || network.tokenizer_class.empty()) return needs_tokenizer_json(what);
    name = network.tokenizer_class;
  }
  const auto* const found = std::ranges::find(kClasses, without_fast(name), &TokenizerClass::name);
  if (found == kClasses.end()) return needs_tokenizer_json(what, without_fast(name));
  return found;
}

Result<FoundTokenizer> find_vocabulary_files(const std::function<bool(std::string_view name)>& has, const Json& config,
                                             const std::optional<Json>& tokenizer_config,
                                             const TokenizerOfNetwork& network) {
  const auto is_there = [&has](const TokenizerClass& one) {
    return has(one.vocabulary_file) || (!one.merges_file.empty() && has(one.merges_file));
  };
  // A folder without any vocabulary lacks a tokenizer.json, whatever its class.
  FoundTokenizer found{.missing = "tokenizer.json"};
  if (std::ranges::none_of(kClasses, is_there)) return found;
  LB_ASSIGN_OR_RETURN(const TokenizerClass* tokenizer_class, find_tokenizer_class(config, tokenizer_config, network));
  std::vector<std::string_view> missing;
  for (const std::string_view name : {tokenizer_class->vocabulary_file, tokenizer_class->merges_file}) {
    if (name.empty()) continue;
    found.files.emplace_back(name);
    if (!has(name)) missing.push_back(name);
  }
  if (!missing.empty()) {
    found.missing = fmt::format("{} (of {}; or tokenizer.json)", fmt::join(missing, " and "), tokenizer_class->name);
    return found;
  }
  for (const std::string_view name : {kSpecialTokensFile, kAddedTokensFile}) {
    if (has(name)) found.files.emplace_back(name);
  }
  found.made_by = tokenizer_class;
  found.missing.clear();
  return found;
}

}  // namespace latebind::embedding
