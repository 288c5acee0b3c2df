// What to say of text that is not UTF-8: where it is, and what converts it. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace latebind::core {

// "invalid UTF-8 at byte 4 of the line (0xE9); …", with the command that converts such a file, if it is text. `bad` is
// what find_invalid_utf8() found in `line`, which is the first one of its file where `is_first`.
[[nodiscard]] std::string encoding_fault(std::string_view line, std::size_t bad, bool is_first);

// The line, from 1, in which a byte of a whole file is, and that line.
struct LineOf {
  std::uint64_t number = 1;
  std::size_t begin = 0;
};
[[nodiscard]] LineOf line_of(std::string_view content, std::size_t byte);

// Whether it begins with the mark of UTF-16, which is text although there are zero bytes in it.
[[nodiscard]] bool begins_as_utf16(std::string_view content);

}  // namespace latebind::core
