// Parses a template into its syntax tree. A pure function; any thread may call it.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/result.h"
#include "core/template/syntax.h"

namespace latebind::templates {

// Returns the statements of `source`, which must be UTF-8. Blocks and expressions may be nested `depth_max` deep.
// Returns kInvalidModel, or kUnsupported for a statement of Jinja that Latebind does not support; both name the line.
[[nodiscard]] core::Result<Body> parse_statements(std::string_view source, std::size_t depth_max);

}  // namespace latebind::templates
