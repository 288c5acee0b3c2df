// Escapes in a string of a template, as Python writes them. A pure function, for any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::templates {

// Returns the text that the string means. Returns kInvalidModel for a damaged escape, and kUnsupported for a character
// by its name and for surrogates.
[[nodiscard]] core::Result<std::string> unescaped(std::string_view text);

}  // namespace latebind::templates
