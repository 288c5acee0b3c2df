// The vocabularies and merges of folders without a tokenizer.json, as files of lines and of JSON.
//
// Each adds what its text has to `lists`. kInvalidModel or kUnsupported; messages name neither file nor folder. Pure
// functions, any thread.
#pragma once

#include <string_view>

#include "core/status.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

// vocab.txt: a token in each line, whose number is its id. White space behind a token is none of it, and of a token
// that occurs twice the last line counts, as in the reference.
[[nodiscard]] core::Status read_word_list(std::string_view text, ModelLists& lists);
// vocab.json: {token: id}.
[[nodiscard]] core::Status read_json_vocabulary(std::string_view text, ModelLists& lists);
// merges.txt: "left right" in each line; lines that begin with #version are none.
[[nodiscard]] core::Status read_merges(std::string_view text, ModelLists& lists);

}  // namespace latebind::embedding
