// The program's messages to users, and its exit codes. Messages go to the error stream, one line each, after "latebind:
// ". Results go to stdout and never pass through here. For one thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::cli {

// The exit codes, which scripts rely on.
enum class Exit : int {
  kGood = 0,
  kFailed = 1,         // the work could not be done
  kUsage = 2,          // the command line is wrong
  kInterrupted = 130,  // by Ctrl-C; completed work is kept
};

// Whether stderr is a terminal where a line can be redrawn, as Progress does.
[[nodiscard]] bool can_wipe_lines();

// Prints the messages that follow as JSON objects with the time, like the lines of the log.
void print_messages_as_json();

// While an object lives, messages are held back until release(), because the settings that determine their format are
// not known yet.
class HeldMessages {
 public:
  HeldMessages();
  ~HeldMessages();
  HeldMessages(const HeldMessages&) = delete;
  HeldMessages& operator=(const HeldMessages&) = delete;

  // Prints the held messages, and the following ones at once.
  static void release();
};

// Redirects messages, as lines with their ends, from the error stream to `to`; an empty function restores the error
// stream. Once this returns, the previous function is not called any more. `to` must not print messages.
void send_messages_to(std::function<void(std::string line)> to);

// Prints a message and continues.
void note(std::string_view text);
// Prints a fallback and its reason, without the reason if it is that of the previous fallback. For the main thread.
void note_fallback(std::string_view reason, std::string_view fallback);

// Makes fail() print the details of errors, too.
void show_details();

// Reports a failure: the cause and the remedy in the first line, and the details, one per line, after show_details().
// Prints nothing if the reader of the output has closed the pipe (closed_pipe()).
[[nodiscard]] Exit fail(const core::Status& status);

// Reports an error in the command line and where to find help.
[[nodiscard]] Exit misuse(std::string_view command, std::string_view text);

// The error of writing to a pipe without a reader, as with `| head -1`, which is not reported.
[[nodiscard]] core::Status closed_pipe();

// The error for `errno` after a failed write to `what`.
[[nodiscard]] core::Status write_error(std::string_view what, int error_number);

}  // namespace latebind::cli
