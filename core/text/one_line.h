// Text from outside as one line that is safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace latebind::core {

// Line ends, tabs and runs of spaces become one space, other control characters '?'. It may contain a vendor's message
// or a file's name.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace latebind::core
