// What the program's standard streams are connected to. For programs: the library itself never prints.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::platform {

// The words of the command line in UTF-8, the program's name first; what main() was given on Linux. On Windows its
// arguments have been forced into the code page of the system, so they are asked for again.
[[nodiscard]] std::vector<std::string> program_arguments(int argc, const char* const* argv);

// From now on a console shows the UTF-8 that this process writes and knows the sequences that progress is drawn with;
// at the end of the process it is as it was. Libraries that this process opens by name alone are not taken from the
// current folder. Both a matter of Windows. Once, at the start of a program.
void prepare_program();

// Writes UTF-8 to the error stream at once, whole letters even on a console of Windows. What cannot be written is
// lost.
void write_to_error_stream(std::string_view text);

// True when a person looks at the error stream.
[[nodiscard]] bool error_stream_is_terminal();

// Characters of a line on that terminal; 80 when unknown.
[[nodiscard]] unsigned error_stream_columns();

// From now on, writing to a pipe that nobody reads is an error of the write (std::errc::broken_pipe) instead of the end
// of the process, and so is writing beyond the limit on file sizes (std::errc::file_too_large). Once, at the start of a
// program: a host's signals are its own.
void let_writes_fail();

// True when a write that failed with this errno failed because nobody reads the stream any more. To be asked at once,
// in the thread of the write.
[[nodiscard]] bool is_closed_pipe(int error_number);

// A new file for reading and writing that nobody else sees and that goes when it is closed. Null when there is no place
// for one; errno says why.
[[nodiscard]] std::FILE* temporary_stream();

// From now on, the standard input and output carry bytes as they are, without line ends being rewritten on Windows, and
// what is written to a console there arrives in blocks: it has to be flushed.
// Once, at the start of a program.
void use_binary_streams();

// From now on, what this process's libraries print to the standard output goes to the error stream; the stream that is
// returned leads to where the standard output led. For programs whose vendors print what nobody asked for. Null when
// the system has no file handle to give: nothing is changed then. Once; the stream is never closed.
[[nodiscard]] std::FILE* take_standard_output();

}  // namespace latebind::platform
