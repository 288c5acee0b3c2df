// What models whose "vocab" is an object of tokens and ids read alike.
#pragma once

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

// Finishes the vocabulary that was read beside `model`; kInvalidModel when there is none, or it is empty.
[[nodiscard]] core::Status finish_vocabulary(const JsonView& model, Vocabulary& vocabulary);

// The id of the token that stands for what is in no other; kInvalidModel when the vocabulary lacks it.
[[nodiscard]] core::Result<std::int32_t> find_unknown(const Vocabulary& vocabulary, std::string_view unk_token);

}  // namespace latebind::embedding
