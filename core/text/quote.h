// Text from outside (a file, a vendor, a user), fit for a one-line message. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace latebind::core {

// One line of UTF-8: the bytes of control characters (is_control() in utf8.h), and those that are not UTF-8, as \xNN.
// Text longer than `size_max` bytes is cut between two characters and ends with "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t size_max = 100);

// The same in single quotes.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t size_max = 100);

}  // namespace latebind::core
