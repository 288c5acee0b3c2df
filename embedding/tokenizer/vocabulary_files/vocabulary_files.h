// VocabularyFiles: the files that a model folder without a tokenizer.json has instead, and the tokenizer.json that
// transformers would make of them.
//
// Source: transformers 5.24, the classes of tokenizer_class.h. What they leave out is left out here, what they ignore
// is ignored, and what would be another tokenizer is refused. Views that must outlive the call; pure functions, any
// thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "embedding/tokenizer/json_document.h"
#include "embedding/tokenizer/vocabulary_files/special_tokens.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {

struct VocabularyFiles {
  static constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

  // tokenizer_config.json; nothing where there is none, as of the two others.
  std::optional<nlohmann::json> tokenizer_config = std::nullopt;
  std::optional<nlohmann::json> special_tokens_map = std::nullopt;
  std::optional<nlohmann::json> added_tokens = std::nullopt;
  // Content of the two files that the class names.
  std::string_view vocabulary{};
  std::string_view merges{};
};

// As read_json_document() gives it, with the ids of the added tokens. kInvalidModel or kUnsupported, naming the file
// (without its folder) and what it has. The scores of a model of SentencePiece are in it to their last bit, which a
// text would not give: readers round.
[[nodiscard]] core::Result<JsonDocument> tokenizer_document(const TokenizerClass& tokenizer_class,
                                                            const VocabularyFiles& files);

// The text of a token by its role, as the files beside any tokenizer name it, whether there is a tokenizer.json or not,
// or else the class that tokenizer_config.json names; empty where neither does. kInvalidModel names the key.
[[nodiscard]] core::Result<std::string> named_token(const std::optional<nlohmann::json>& tokenizer_config,
                                                    const std::optional<nlohmann::json>& special_tokens_map,
                                                    SpecialTokens::Role role);

}  // namespace latebind::embedding
