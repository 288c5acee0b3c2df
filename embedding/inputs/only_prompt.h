// Finds out whether a limit leaves only the prompt of a text. A pure function; any thread may call it.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/result.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

// Returns whether no token of the text is among the first `max_tokens` ones, special tokens included. `whole` is the
// prompt, of `prompt_bytes` bytes, and the text. Returns the errors of Tokenizer::encode().
[[nodiscard]] core::Result<bool> is_only_prompt(const Tokenizer& tokenizer, std::size_t max_tokens,
                                                std::string_view whole, std::size_t prompt_bytes);

}  // namespace latebind::embedding
