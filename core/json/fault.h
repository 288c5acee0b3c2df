// Locates the mistake in text that is not JSON. simdjson reports only the kind of mistake, so this parser reads the
// text again to find the place. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::core {

// Describes the first mistake in `text`, with its byte, its line unless that is the first, and the enclosing member or
// element: "'input[1]' has a lone surrogate at byte 24: it is not Unicode text". Returns std::nullopt for valid JSON.
// Takes linear time and constant memory. Values may be nested `depth_max` deep. `is_accepted` is asked about every
// well-formed number.
[[nodiscard]] std::optional<std::string> json_fault(std::string_view text, std::size_t depth_max,
                                                    const std::function<bool(std::string_view number)>& is_accepted);

}  // namespace latebind::core
