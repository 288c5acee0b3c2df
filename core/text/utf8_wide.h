// The part of find_invalid_utf8() that uses vector instructions. Internal to core/text; pure function.
#pragma once

#include <cstddef>
#include <string_view>

namespace latebind::core {

// Returns the length of a prefix of `text` that consists of well-formed characters; more of them may follow. 0 on
// processors without the instructions and for short texts.
[[nodiscard]] std::size_t utf8_wide_prefix(std::string_view text);

}  // namespace latebind::core
