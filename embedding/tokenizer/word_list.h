// A tokenizer that is a list of words, without subwords: a word that is not in the list has no token.
//
// Source: sentence-transformers' WhitespaceTokenizer. Pure functions, for any thread.
#pragma once

#include <string_view>

#include "core/result.h"
#include "embedding/tokenizer/tokenizer_file.h"

namespace latebind::embedding {

// Reads its file: the words in the order of their ids, the words that are left out, and whether texts become lower
// case. Returns kInvalidModel or kUnsupported; messages name the key but not the file.
[[nodiscard]] core::Result<TokenizerFile> read_word_list(std::string_view json);

}  // namespace latebind::embedding
