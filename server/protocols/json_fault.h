// What is wrong with text that is no JSON, and where. The parser of bodies (simdjson) is fast and says only what kind
// of mistake there is; this reads the text once more, slowly, to name the place. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::server {

// The first mistake in `text`, with its byte and the member or element it is in: "'input[1]' has a lone surrogate at
// byte 24: it is not Unicode text". Nothing where no mistake is found. Takes time in proportion to the text, and no
// memory for it. Values may lie `depth_max` deep in each other.
[[nodiscard]] std::optional<std::string> json_fault(std::string_view text, std::size_t depth_max);

}  // namespace latebind::server
