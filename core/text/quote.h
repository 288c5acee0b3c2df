// Text from outside (a file, a vendor, a user), fit for a message of one line. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace latebind::core {

// Control characters become \xNN, and so does every non-ASCII byte of text that is not UTF-8. Text longer than
// `size_max` bytes is cut between two characters, and ends with "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t size_max = 100);

// The same in single quotes.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t size_max = 100);

}  // namespace latebind::core
