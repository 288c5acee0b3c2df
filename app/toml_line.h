// Explains two common mistakes in config.toml, an unquoted text and a quote that is not closed. The TOML parser takes
// the first for a number and the second for a text with a line end in it, and reports what it expected rather than what
// to write. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::app {

// Returns an explanation such as "precision = int8: a text needs quotes: precision = \"int8\"" if `line` (from 1) of
// `toml` sets a key to an unquoted word, std::nullopt otherwise. For other types of setting, it shows what they accept.
[[nodiscard]] std::optional<std::string> unquoted_value(std::string_view toml, std::size_t line);

// Returns an explanation such as "the quote before auto is not closed: device = \"auto\"" if a text on `line` has no
// end.
[[nodiscard]] std::optional<std::string> unclosed_quote(std::string_view toml, std::size_t line);

}  // namespace latebind::app
