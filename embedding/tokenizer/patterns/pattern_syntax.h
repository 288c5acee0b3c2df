// Reads the expressions of a tokenizer.json, which the reference gives to Oniguruma with Ruby's syntax.
//
// Only syntax that certainly means the same here is accepted. Everything else is refused by name, as is rare syntax
// with two plausible readings. Pure function, any thread.
#pragma once

#include <string_view>

#include "core/result.h"
#include "embedding/tokenizer/patterns/pattern_tree.h"

namespace latebind::embedding {

// `expression` must be well-formed UTF-8. kUnsupported says what is not supported, and where.
[[nodiscard]] core::Result<PatternTree> read_pattern(std::string_view expression);

}  // namespace latebind::embedding
