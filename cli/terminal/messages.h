// What the program says to people, and how it ends. Everything here goes to the error stream, one line each, with
// "latebind: " in front; results go to stdout and never pass through here. One thread.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::cli {

// The exit codes, a promise to scripts.
enum class Exit : int {
  kGood = 0,
  kFailed = 1,  // the work could not be done
  kUsage = 2,   // the command line makes no sense
};

// Whether stderr is a terminal on which a line can be drawn again, as Progress does.
[[nodiscard]] bool can_wipe_lines();

// Says something and goes on.
void note(std::string_view text);

// Says why the work failed. Silent when only the reader of our output has gone (see closed_pipe).
[[nodiscard]] Exit fail(const core::Status& status);

// Says what is wrong with the command line and where its help is.
[[nodiscard]] Exit misuse(std::string_view command, std::string_view text);

// The error of writing to a pipe that nobody reads any more, as under `| head -1`: no news to anybody.
[[nodiscard]] core::Status closed_pipe();

// The error that `errno` stands for after a failed write to `what`.
[[nodiscard]] core::Status write_error(std::string_view what, int error_number);

}  // namespace latebind::cli
