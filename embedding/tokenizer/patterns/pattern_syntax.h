// Reads the expressions of a tokenizer.json, which the reference hands to Oniguruma with Ruby's syntax.
//
// Only what is known to mean the same here is read; everything else is refused by name, and so is what is rare and
// easily read in two ways. Pure function, any thread.
#pragma once

#include <string_view>

#include "core/result.h"
#include "embedding/tokenizer/patterns/pattern_tree.h"

namespace latebind::embedding {

// `expression` must be well-formed UTF-8. kUnsupported says what is not read, and where.
[[nodiscard]] core::Result<PatternTree> read_pattern(std::string_view expression);

}  // namespace latebind::embedding
