// The tokens that a tokenizer.json puts around a text. Pure function, any thread.
#pragma once

#include <array>
#include <string>

#include "core/json/value.h"

namespace latebind::embedding {

// The tokens before and after a text, in the form of messages: separated by spaces, and with its id if a token has
// another one's.
[[nodiscard]] std::array<std::string, 2> tokens_around(const core::Json& root);

}  // namespace latebind::embedding
