// Text from outside as one line that is harmless on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace latebind::core {

// One line of UTF-8: line ends and tabs, with the spaces beside them, become one space, or nothing at both ends. Other
// control characters (is_control() in utf8.h), and bytes that are not UTF-8, become '?'. It may hold a vendor's message
// or a file name.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace latebind::core
