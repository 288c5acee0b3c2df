// What the program's standard streams are connected to. For programs: the library itself never prints.
#pragma once

#include <cstdio>

namespace latebind::platform {

// True when a person looks at the error stream.
[[nodiscard]] bool error_stream_is_terminal();

// Characters of a line on that terminal; 80 when unknown.
[[nodiscard]] unsigned error_stream_columns();

// From now on, writing to a pipe that nobody reads is an error of the write (std::errc::broken_pipe) instead of the end
// of the process. Once, at the start of a program.
void ignore_closed_pipes();

// From now on, the standard input and output carry bytes as they are, without line ends being rewritten on Windows.
// Once, at the start of a program.
void use_binary_streams();

// From now on, what this process's libraries print to the standard output goes to the error stream; the stream that is
// returned leads to where the standard output led. For programs whose vendors print what nobody asked for. Null when
// the system has no file handle to give: nothing is changed then. Once; the stream is never closed.
[[nodiscard]] std::FILE* take_standard_output();

}  // namespace latebind::platform
