// The client of app/'s jobs for a user at a terminal.
#pragma once

#include <cstdint>
#include <optional>

#include "app/client.h"
#include "cli/terminal/progress.h"

namespace latebind::cli {

// Notes go to the error stream, a bar shows downloads from the hub, options have their command-line names. Must outlive
// the job.
class TerminalClient {
 public:
  // `quiet`: no bar.
  explicit TerminalClient(bool quiet = false);
  TerminalClient(const TerminalClient&) = delete;
  TerminalClient& operator=(const TerminalClient&) = delete;

  [[nodiscard]] const app::Client& client() const { return client_; }

 private:
  const bool quiet_;
  // Created with the first byte, because the total is known only then.
  std::optional<Progress> progress_;
  std::uint64_t shown_ = 0;
  app::Client client_;
};

}  // namespace latebind::cli
