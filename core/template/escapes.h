// Resolves the escape sequences of string literals in a template, with Python's rules. A pure function; any thread may
// call it.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::templates {

// Returns the content of the literal `text`, which is given without its quotes. Returns kInvalidModel for a malformed
// escape sequence, and kUnsupported for \N{...} and for surrogates.
[[nodiscard]] core::Result<std::string> unescaped(std::string_view text);

}  // namespace latebind::templates
