// Text from outside as one line that does a terminal no harm.
#pragma once

#include <string>
#include <string_view>

namespace latebind::core {

// Line ends, tabs and runs of spaces become one space, other control characters '?'. It may hold a vendor's words or a
// file's name.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace latebind::core
