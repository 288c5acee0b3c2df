// The error message for text that is not UTF-8: the place of the fault, and the command that converts the text. Pure
// functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace latebind::core {

// Returns "invalid UTF-8 at byte 4 of the line (0xE9); …" and, if the file is text, the command that converts it. `bad`
// is the result of find_invalid_utf8() for `line`; `is_first` says that the line is the first one of its file.
[[nodiscard]] std::string encoding_fault(std::string_view line, std::size_t bad, bool is_first);

// A line of a file: its number, counted from 1, and the offset of its first byte.
struct LineOf {
  std::uint64_t number = 1;
  std::size_t begin = 0;
};
// Returns the line that contains a byte of a whole file.
[[nodiscard]] LineOf line_of(std::string_view content, std::size_t byte);

// Whether the content begins with the byte order mark of UTF-16, which is text although it contains zero bytes.
[[nodiscard]] bool begins_as_utf16(std::string_view content);

}  // namespace latebind::core
