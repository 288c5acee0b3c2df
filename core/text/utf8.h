// UTF-8 as it comes from outside. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace latebind::core {

// Offset of the first byte that begins no well-formed character (Unicode 15, table 3-7: no overlong forms, no
// surrogates, nothing above U+10FFFF), or nothing when all of `text` is UTF-8.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// The longest start of well-formed `text` that has at most `size_max` bytes and cuts no character in two.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t size_max);

}  // namespace latebind::core
