#include "cli/terminal/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "app/json_text.h"
#include "core/platform/environment.h"
#include "core/platform/standard_streams.h"
#include "core/text/one_line.h"
#include "core/text/pieces.h"
#include "core/text/utc_time.h"
#include "core/threads/mutex.h"

namespace latebind::cli {

using core::Status;
using core::StatusCode;

bool can_wipe_lines() {
  return platform::error_stream_is_terminal() && platform::environment("TERM").value_or("") != "dumb";
}

namespace {

std::atomic<bool> errors_are_json = false;
std::atomic<bool> tells_details = false;
core::Mutex sink_mutex;
// Never destroyed, because vendors' threads may log until the end.
std::function<void(std::string)>& sink LB_GUARDED_BY(sink_mutex) = *new std::function<void(std::string)>();
std::optional<std::vector<std::string>>& held LB_GUARDED_BY(sink_mutex) =
    *new std::optional<std::vector<std::string>>();

bool hold(std::string_view text) {
  const core::MutexLock lock(sink_mutex);
  if (held) held->emplace_back(text);
  return held.has_value();
}

void put_line(std::string line) {
  {
    const core::MutexLock lock(sink_mutex);
    if (sink) return sink(std::move(line));
  }
  platform::write_to_error_stream(line);
}

}  // namespace

void send_messages_to(std::function<void(std::string line)> to) {
  const core::MutexLock lock(sink_mutex);
  sink = std::move(to);
}

void print_messages_as_json() {
  errors_are_json.store(true);
}

HeldMessages::HeldMessages() {
  const core::MutexLock lock(sink_mutex);
  held.emplace();
}

HeldMessages::~HeldMessages() {
  release();
}

void HeldMessages::release() {
  std::optional<std::vector<std::string>> texts;
  {
    const core::MutexLock lock(sink_mutex);
    std::swap(texts, held);
  }
  if (!texts) return;
  for (const std::string& text : *texts)
    note(text);
}

void note(std::string_view text) {
  if (hold(text)) return;
  if (errors_are_json.load()) {
    app::Json line;
    line["time"] = core::utc_text_ms(std::chrono::system_clock::now());
    line["message"] = core::one_line(text);
    return put_line(app::to_line(line) + "\n");
  }
  // Wipes the line of Progress, which redraws it.
  put_line(fmt::format("{}latebind: {}\n", can_wipe_lines() ? "\r\x1b[K" : "", core::one_line(text)));
}

void note_fallback(std::string_view reason, std::string_view fallback) {
  static std::string previous;
  if (previous == reason) return note(fallback);
  previous = reason;
  note(fmt::format("{}; {}", reason, fallback));
}

void show_details() {
  tells_details.store(true);
}

Exit fail(const Status& status) {
  if (status.code() == StatusCode::kCancelled) return Exit::kFailed;
  std::string_view rest = status.details();
  const bool shown = tells_details.load();
  note(status.to_string() +
       (rest.empty() || shown ? "" : " (for details, run `latebind doctor`, or this command as `latebind -v ...`)"));
  while (shown && !rest.empty())
    note(fmt::format("  {}", core::take_until(rest, '\n')));
  return Exit::kFailed;
}

Exit misuse(std::string_view command, std::string_view text) {
  note(fmt::format("{}{}{}; for help, run `latebind {}{}--help`", command, command.empty() ? "" : ": ", text, command,
                   command.empty() ? "" : " "));
  return Exit::kUsage;
}

Status closed_pipe() {
  return Status(StatusCode::kCancelled, "the output was closed");
}

Status write_error(std::string_view what, int error_number) {
  const std::error_code error(error_number, std::generic_category());
  if (platform::is_closed_pipe(error_number)) return closed_pipe();
  const bool full = error == std::errc::no_space_on_device;
  return Status(full ? StatusCode::kDiskFull : StatusCode::kIo,
                fmt::format("writing {} failed: {}", what, error.message()));
}

}  // namespace latebind::cli
