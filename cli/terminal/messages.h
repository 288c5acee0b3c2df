// The program's messages to users, and its exit codes. Everything here goes to the error stream, one line each, with
// "latebind: " in front; results go to stdout and never pass through here. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::cli {

// The exit codes, a promise to scripts.
enum class Exit : int {
  kGood = 0,
  kFailed = 1,         // the work could not be done
  kUsage = 2,          // the command line is wrong
  kInterrupted = 130,  // by Ctrl-C; what was done is kept
};

// Whether stderr is a terminal on which a line can be drawn again, as Progress does.
[[nodiscard]] bool can_wipe_lines();

// From here on messages are JSON objects, with the time, as the lines of a log are that another program reads.
void print_messages_as_json();

// Keeps messages until it ends or is released: what is said before the settings are known that say what lines look
// like.
class HeldMessages {
 public:
  HeldMessages();
  ~HeldMessages();
  HeldMessages(const HeldMessages&) = delete;
  HeldMessages& operator=(const HeldMessages&) = delete;

  // Prints them, as all that follow.
  static void release();
};

// Messages go there from here on, as lines with their ends, instead of to the error stream; nothing: back to it. When
// this returns, the previous one is no longer called. It must not print messages itself.
void send_messages_to(std::function<void(std::string line)> to);

// Prints a message and continues.
void note(std::string_view text);

// From here on fail() prints the details of errors as well.
void tell_details();

// Reports why the work failed: the cause and what mends it in the first line, and the details, one a line, after
// tell_details(). Silent when only the reader of the output has gone (see closed_pipe).
[[nodiscard]] Exit fail(const core::Status& status);

// Says what is wrong with the command line and where its help is.
[[nodiscard]] Exit misuse(std::string_view command, std::string_view text);

// The error of writing to a pipe without a reader, as with `| head -1`: not reported.
[[nodiscard]] core::Status closed_pipe();

// The error for `errno` after a failed write to `what`.
[[nodiscard]] core::Status write_error(std::string_view what, int error_number);

}  // namespace latebind::cli
