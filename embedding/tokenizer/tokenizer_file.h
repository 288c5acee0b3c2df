// TokenizerFile: the content of a tokenizer.json, parsed and checked. Anything unsupported is rejected by name.
//
// Source of the format: the `tokenizers` package, version "1.0" of its files. A value type with one owner.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/added_tokens.h"
#include "embedding/tokenizer/decoder.h"
#include "embedding/tokenizer/json_document.h"
#include "embedding/tokenizer/tokenizer_parts.h"

namespace latebind::embedding {

struct TokenizerFile {
  TokenizerParts parts;
  std::vector<AddedToken> added_tokens;  // with the ids on which the file and the reference agree
  std::size_t id_end = 0;                // of the vocabulary and the added tokens
  // Null if the file names none. An error only prevents decoding; texts can be encoded without it.
  core::Result<DecoderPtr> decoder = DecoderPtr();

  // Returns kInvalidModel or kUnsupported; messages name the part but not the file.
  static core::Result<TokenizerFile> read(std::string_view text);
  static core::Result<TokenizerFile> read(JsonDocument document);
};

// The types that a file may name for one kind of part, such as "model"; for lists.
struct TokenizerPartNames {
  std::string_view kind;
  std::vector<std::string_view> types;
};
[[nodiscard]] std::vector<TokenizerPartNames> known_tokenizer_parts();

}  // namespace latebind::embedding
