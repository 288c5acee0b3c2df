// What the program's standard streams are connected to. For programs: the library itself never prints.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::platform {

// The command line's arguments in UTF-8, the program's name first; on Linux those of main(). On Windows main()'s are
// converted to the system's code page, so they are requested again.
[[nodiscard]] std::vector<std::string> program_arguments(int argc, const char* const* argv);

// From now on a console shows the UTF-8 that this process writes and understands the sequences that progress is drawn
// with; at the end of the process its mode is restored. Libraries that this process opens by bare name are not taken
// from the current folder. Both only on Windows. On Linux, no file that is opened later takes the place of a standard
// stream that was closed when the process was started (`<&-`): it stays one that cannot be used. Once, at the start of
// a program, before anything is opened.
void prepare_program();

// Writes UTF-8 to the error stream at once, whole characters even on a Windows console. What cannot be written is lost.
// Waits for a reader that is slow; exit() by another thread does not wait with it, except on Windows.
void write_to_error_stream(std::string_view text);

// True when the error stream is a terminal.
[[nodiscard]] bool error_stream_is_terminal();

// Characters per line of that terminal; 80 when unknown.
[[nodiscard]] unsigned error_stream_columns();

// The width of the terminal at standard output, in characters; nothing if standard output is not a terminal.
[[nodiscard]] std::optional<unsigned> output_stream_columns();

// True when somebody types the standard input.
[[nodiscard]] bool input_stream_is_terminal();
// The keys that end input at a terminal: "Ctrl-D".
[[nodiscard]] std::string_view input_end_keys();

// From now on, writing to a pipe that nobody reads is a write error (std::errc::broken_pipe) instead of the end of the
// process, and so is writing beyond the limit on file sizes (std::errc::file_too_large). Once, at the start of a
// program: a host's signals are not touched.
void let_writes_fail();

// True when a write that failed with this errno failed because the stream has no reader any more. To be called at once,
// in the thread of the write.
[[nodiscard]] bool is_closed_pipe(int error_number);

// A new file for reading and writing that no other process sees and that disappears when it is closed: in the system's
// place for temporary files, as TemporaryFolder has it (TMPDIR), or in /tmp where that does not work; on Windows where
// the C library has such files. Null when there is no place for one; errno says why.
[[nodiscard]] std::FILE* temporary_stream();

// From now on, the standard input and output carry bytes as they are, without translation of line ends on Windows, and
// console output there is buffered: it has to be flushed. Once, at the start of a program.
void use_binary_streams();

// From now on, what this process's libraries print to the standard output goes to the error stream; the returned stream
// is the original standard output. For programs whose vendors' libraries print unasked. Null when the system is out of
// file handles: then nothing is changed. Once; the stream is never closed.
[[nodiscard]] std::FILE* take_standard_output();

}  // namespace latebind::platform
