// Text from outside (a file, a vendor, a user), made fit for a one-line message. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace latebind::core {

// Returns one line of UTF-8. Bytes of control characters (is_control() in utf8.h), and bytes that are not UTF-8, become
// \xNN. Text longer than `size_max` bytes is cut between two characters and ends with "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t size_max = 100);

// Returns printable() in single quotes.
[[nodiscard]] std::string quoted(std::string_view text, std::size_t size_max = 100);

}  // namespace latebind::core
