// VocabularyFiles: the files of a model folder without a tokenizer.json, and the tokenizer.json that transformers would
// make of them.
//
// Source: transformers 5.24, the classes of tokenizer_class.h. What they omit or ignore is omitted or ignored here, and
// files that would change the tokenizer are refused. Views that must outlive the call; pure functions, any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/tokenizer/json_document.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {

struct VocabularyFiles {
  static constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

  // tokenizer_config.json and two more optional files; std::nullopt stands for a missing one.
  std::optional<core::Json> tokenizer_config = std::nullopt;
  std::optional<core::Json> special_tokens_map = std::nullopt;
  std::optional<core::Json> added_tokens = std::nullopt;
  // Contents of the two files that the class names.
  std::string_view vocabulary{};
  std::string_view merges{};
};

// Makes the document that read_json_document() would give, with the ids of the added tokens. Returns kInvalidModel or
// kUnsupported, naming the file (without its folder) and the problem. The scores of a SentencePiece model are exact,
// which text would not preserve, since readers round.
[[nodiscard]] core::Result<JsonDocument> tokenizer_document(const TokenizerClass& tokenizer_class,
                                                            const VocabularyFiles& files);

}  // namespace latebind::embedding
