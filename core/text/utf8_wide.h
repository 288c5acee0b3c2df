// The part of find_invalid_utf8() for which some processors have instructions. Internal to core/text.
#pragma once

#include <cstddef>
#include <string_view>

namespace latebind::core {

// How many bytes at the front of `text` are well-formed characters, as far as was looked: it ends between two of them,
// and behind it may be more. 0 on processors without such instructions and for short texts.
[[nodiscard]] std::size_t utf8_wide_prefix(std::string_view text);

}  // namespace latebind::core
