// What the files beside a tokenizer.json would make of it: transformers' classes make their parts anew by
// tokenizer_config.json, and add the tokens that it and its companions name. Here tokenizer.json says what a tokenizer
// is, and files which ask for something else are refused.
//
// Source: transformers 5.24, AutoTokenizer, TokenizersBackend and the classes below. Pure functions, any thread.
#pragma once

#include <optional>

#include "core/json.h"
#include "core/status.h"
#include "embedding/tokenizer/json_number.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {

// Nothing where there is no such file.
struct BesideTokenizerJson {
  std::optional<nlohmann::json> config = std::nullopt;
  std::optional<nlohmann::json> tokenizer_config = std::nullopt;
  std::optional<nlohmann::json> special_tokens_map = std::nullopt;
  std::optional<nlohmann::json> added_tokens = std::nullopt;
  TokenizerOfNetwork network{};
};

// `root`: the tokenizer.json, as read_json_document() gives it; what is wrong in it is left to its reader. Its added
// tokens get the flags of "added_tokens_decoder", and where a class for SentencePiece's models is named, its
// normalizer, pre-tokenizer and model are made as that class makes them. kUnsupported where these files give other ids
// in any other way, naming file and key, and what to do.
[[nodiscard]] core::Status take_beside_tokenizer_json(const BesideTokenizerJson& beside, nlohmann::json& root);

// How the scores of a tokenizer.json are to be rounded: those classes take them from Python's parser.
[[nodiscard]] NumberRounding rounding_beside(const BesideTokenizerJson& beside);

}  // namespace latebind::embedding
