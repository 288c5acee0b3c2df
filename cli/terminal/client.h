// The client of app/'s jobs at a terminal.
#pragma once

#include <cstdint>
#include <optional>

#include "app/client.h"
#include "cli/terminal/progress.h"

namespace latebind::cli {

// Writes notes to the error stream, shows a progress bar for downloads from the hub, and gives options their
// command-line names. Must outlive the job.
class TerminalClient {
 public:
  // `quiet` hides the progress bar.
  explicit TerminalClient(bool quiet = false);
  TerminalClient(const TerminalClient&) = delete;
  TerminalClient& operator=(const TerminalClient&) = delete;

  [[nodiscard]] const app::Client& client() const { return client_; }

 private:
  const bool quiet_;
  // Created with the first byte, when the total is known.
  std::optional<Progress> progress_;
  std::uint64_t shown_ = 0;
  app::Client client_;
};

}  // namespace latebind::cli
