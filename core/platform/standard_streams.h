// The program's standard streams and arguments. For programs: the library itself never prints.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::platform {

// Returns the command line's arguments in UTF-8, the program's name first. On Linux they are those of main(). On
// Windows, where main()'s are converted to the system's code page, they are requested again.
[[nodiscard]] std::vector<std::string> program_arguments(int argc, const char* const* argv);

// Prepares the streams. Call it once, at the start of a program, before anything is opened.
//
// On Windows, a console then shows the UTF-8 that this process writes and understands the sequences that draw progress;
// the console's mode is restored at the end of the process. Libraries that this process opens by bare name are not
// taken from the current folder.
//
// On Linux, if a standard stream was closed when the process was started (`<&-`), it stays unusable, so that no file
// opened later takes its place.
void prepare_program();

// Writes UTF-8 to the error stream at once, in whole characters even on a Windows console. Text that cannot be written
// is lost. It waits for a slow reader; exit() on another thread does not wait for it, except on Windows.
void write_to_error_stream(std::string_view text);

// Whether the error stream is a terminal.
[[nodiscard]] bool error_stream_is_terminal();

// The width of the terminal at the error stream, in characters; 80 when unknown.
[[nodiscard]] unsigned error_stream_columns();

// The width of the terminal at standard output, in characters; std::nullopt if standard output is not a terminal.
[[nodiscard]] std::optional<unsigned> output_stream_columns();

// Whether standard input is a terminal.
[[nodiscard]] bool input_stream_is_terminal();
// The keys that end input at a terminal: "Ctrl-D".
[[nodiscard]] std::string_view input_end_keys();

// From now on, writing to a pipe that nobody reads is a write error (std::errc::broken_pipe) instead of the end of the
// process, and so is writing beyond the limit on file sizes (std::errc::file_too_large). For programs only, because it
// changes how signals are handled. Call it once, at the start.
void let_writes_fail();

// Whether a write that failed with this errno failed because the stream has no reader any more. Call it directly after
// the write, on the same thread.
[[nodiscard]] bool is_closed_pipe(int error_number);

// Returns a new file for reading and writing that no other process sees and that disappears when it is closed. It is in
// the system's place for temporary files, as for TemporaryFolder (TMPDIR), or in /tmp if that fails; on Windows where
// the C library has such files. Null when no place works; errno says why.
[[nodiscard]] std::FILE* temporary_stream();

// From now on, standard input and output carry bytes as they are: on Windows without translation of line ends, and with
// buffered console output, which has to be flushed. Call it once, at the start of a program.
void use_binary_streams();

// From now on, what this process's libraries print to standard output goes to the error stream. Returns a stream for
// the original standard output, which is never closed. For programs whose vendors' libraries print unasked. Returns
// null, and changes nothing, when the system is out of file handles. Call it once.
[[nodiscard]] std::FILE* take_standard_output();

}  // namespace latebind::platform
