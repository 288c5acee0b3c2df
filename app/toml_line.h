// What is wrong with a line of a config.toml that is no TOML. Most often a text has no quotes, which a parser of TOML
// takes for a number: it says what it expected, and not what to write. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::app {

// "precision = int8: a text needs quotes: precision = \"int8\"", or what else the setting takes, where `line` (from 1)
// of `toml` sets a key to a word without quotes. Nothing for any other mistake.
[[nodiscard]] std::optional<std::string> unquoted_value(std::string_view toml, std::size_t line);

}  // namespace latebind::app
