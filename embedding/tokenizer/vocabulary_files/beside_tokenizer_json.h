// Checks the files beside a tokenizer.json. transformers' classes rebuild parts of the tokenizer according to
// tokenizer_config.json, and add the tokens that it and its companions name. Here tokenizer.json defines the tokenizer,
// and files that would change it are refused.
//
// Source: transformers 5.24, AutoTokenizer, TokenizersBackend and the classes below. Pure functions, any thread.
#pragma once

#include <optional>

#include "core/json/value.h"
#include "core/status.h"
#include "embedding/tokenizer/json_document.h"
#include "embedding/tokenizer/json_number.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {

// std::nullopt stands for a missing file.
struct BesideTokenizerJson {
  std::optional<core::Json> config = std::nullopt;
  std::optional<core::Json> tokenizer_config = std::nullopt;
  std::optional<core::Json> special_tokens_map = std::nullopt;
  std::optional<core::Json> added_tokens = std::nullopt;
  TokenizerOfNetwork network{};
};

// Applies the files to `root`, the tokenizer.json as read_json_document() returns it with its lists. Errors in `root`
// itself are left to its reader. Added tokens get the flags of "added_tokens_decoder". If a class for SentencePiece
// models is named, normalizer, pre-tokenizer and model are rebuilt as that class does. Returns kUnsupported, naming
// file, key and remedy, if these files would change ids in any other way.
[[nodiscard]] core::Status take_beside_tokenizer_json(const BesideTokenizerJson& beside, core::Json& root,
                                                      const ModelLists& lists = {});

// How to round the scores of a tokenizer.json: those classes get them from Python's parser.
[[nodiscard]] NumberRounding rounding_beside(const BesideTokenizerJson& beside);

}  // namespace latebind::embedding
