#include "cli/terminal/background_lines.h"

#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "cli/terminal/messages.h"
#include "core/platform/standard_streams.h"

namespace latebind::cli {

BackgroundLines::BackgroundLines()
    : worker_({.waiting_max = kWaitingMax},
              [](std::vector<std::string>& lines) { platform::write_to_error_stream(lines.front()); }) {
  send_messages_to([this](std::string line) { write(std::move(line)); });
}

BackgroundLines::~BackgroundLines() {
  send_messages_to({});
  (void)worker_.end(std::chrono::seconds(1));
}

void BackgroundLines::write(std::string line) noexcept {
  try {
    // Without a thread, the caller writes.
    if (worker_.add(line) == core::BoundedWorker<std::string>::Added::kNoThread) platform::write_to_error_stream(line);
  } catch (const std::exception&) {
    // The line is lost.
  }
}

}  // namespace latebind::cli
