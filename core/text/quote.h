// Text from outside (a file, a vendor, a user), fit for a message of one line. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace latebind::core {

// Control characters as \xNN, and so is every byte beyond ASCII of what is no UTF-8. What is longer than `size_max`
// bytes is cut between two characters, and ends with "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t size_max = 100);

// The same in single quotes.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t size_max = 100);

}  // namespace latebind::core
