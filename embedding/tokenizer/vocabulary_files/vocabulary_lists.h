// Reads the vocabularies and merges of folders without a tokenizer.json, from files of lines or of JSON.
//
// Each function adds the content of its text to `lists`, and returns kInvalidModel or kUnsupported; messages name
// neither file nor folder. Pure functions, any thread.
#pragma once

#include <string_view>

#include "core/status.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

// vocab.txt: one token a line; the number of the line is the id. White space at the end of a line is ignored. As in the
// reference, the last one of several equal lines counts.
[[nodiscard]] core::Status read_word_list(std::string_view text, ModelLists& lists);
// vocab.json: {token: id}.
[[nodiscard]] core::Status read_json_vocabulary(std::string_view text, ModelLists& lists);
// merges.txt: "left right" in each line; lines that begin with #version are ignored.
[[nodiscard]] core::Status read_merges(std::string_view text, ModelLists& lists);

}  // namespace latebind::embedding
