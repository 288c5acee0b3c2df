// Parses a template. A pure function, for any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/result.h"
#include "core/template/syntax.h"

namespace latebind::templates {

// Returns the statements of a template in UTF-8. Blocks and expressions may be nested `depth_max` deep. Returns
// kInvalidModel, or kUnsupported for statements that are known elsewhere, with the line.
[[nodiscard]] core::Result<Body> parse_statements(std::string_view source, std::size_t depth_max);

}  // namespace latebind::templates
