// Text from outside as one line that is harmless on a terminal. Pure function, for any thread.
#pragma once

#include <string>
#include <string_view>

namespace latebind::core {

// Returns one line of UTF-8. Line ends and tabs, together with the spaces beside them, become one space, and are
// removed at both ends. Other control characters (is_control() in utf8.h) and bytes that are not UTF-8 become '?'. For
// vendors' messages and file names.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace latebind::core
