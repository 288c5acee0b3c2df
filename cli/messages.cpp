#include "cli/messages.h"

#include <fmt/format.h>

#include <system_error>

#include "core/platform/standard_streams.h"

namespace latebind::cli {

using core::Status;
using core::StatusCode;

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  bool gap = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t' || (c == ' ' && gap)) {
      gap = true;
      continue;
    }
    if (gap && !line.empty()) line += ' ';
    gap = false;
    line += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return line;
}

void note(std::string_view text) {
  platform::write_to_error_stream(fmt::format("latebind: {}\n", one_line(text)));
}

Exit fail(const Status& status) {
  if (status.code() != StatusCode::kCancelled) note(status.to_string());
  return Exit::kFailed;
}

Exit misuse(std::string_view command, std::string_view text) {
  note(fmt::format("{}{}{}; `latebind {}{}--help` tells more", command, command.empty() ? "" : ": ", text, command,
                   command.empty() ? "" : " "));
  return Exit::kUsage;
}

Status closed_pipe() {
  return Status(StatusCode::kCancelled, "nobody reads the output any more");
}

Status write_error(std::string_view what, int error_number) {
  const std::error_code error(error_number, std::generic_category());
  if (platform::is_closed_pipe(error_number)) return closed_pipe();
  const bool full = error == std::errc::no_space_on_device;
  return Status(full ? StatusCode::kDiskFull : StatusCode::kIo,
                fmt::format("writing {} failed: {}", what, error.message()));
}

}  // namespace latebind::cli
