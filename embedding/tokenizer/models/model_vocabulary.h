// Shared reading code of models whose "vocab" is an object of tokens and ids.
#pragma once

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

// Finishes the vocabulary that was read beside `model`; kInvalidModel when there is none, or it is empty.
[[nodiscard]] core::Status finish_vocabulary(const JsonView& model, Vocabulary& vocabulary);

// The id of the unknown token; kInvalidModel when the vocabulary lacks it.
[[nodiscard]] core::Result<std::int32_t> find_unknown(const Vocabulary& vocabulary, std::string_view unk_token);

}  // namespace latebind::embedding
