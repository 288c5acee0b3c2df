// Locates the mistake in text that is not JSON. The fast parser of bodies (simdjson) reports only the kind of mistake,
// so this parser reads the text again to find the place. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::server {

// Describes the first mistake in `text`, with its byte and the enclosing member or element: "'input[1]' has a lone
// surrogate at byte 24: it is not Unicode text". Returns std::nullopt for valid JSON. Takes linear time and constant
// memory. Values may be nested `depth_max` deep.
[[nodiscard]] std::optional<std::string> json_fault(std::string_view text, std::size_t depth_max);

}  // namespace latebind::server
