#include "app/jobs/compile_lock.h"

#include <fmt/format.h>

#include <chrono>

#include "core/platform/files/folders.h"

namespace latebind::app {

using core::Status;
using core::StatusCode;

core::Result<platform::OutputLock> lock_output(const std::string& output, const Client& client) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::minutes kPatience{10};
  constexpr std::chrono::milliseconds kSlice{500};  // the interval of checks for a cancellation
  const auto place = platform::path_from_utf8(output);
  const auto deadline = Clock::now() + kPatience;
  for (auto slice = std::chrono::milliseconds(0);; slice = kSlice) {
    auto lock = platform::OutputLock::acquire(place, slice);
    if (lock.ok()) return lock;
    LB_RETURN_IF_ERROR(client.check_cancelled());
    if (slice.count() == 0 && client.note) {
      client.note(fmt::format("waiting for another process that writes {}", output));
    }
    if (Clock::now() >= deadline) {
      return Status(StatusCode::kBusy,
                    fmt::format("cannot write {}: another process has been writing it for {} minutes; wait for it or "
                                "end it, then try again",
                                output, kPatience.count()));
    }
  }
}

Status changed_meanwhile(const std::string& output) {
  return {StatusCode::kBusy,
          fmt::format("cannot write {}: another program changed it after it was read; nothing was written, try again",
                      output)};
}

}  // namespace latebind::app
