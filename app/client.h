// Who runs a job: a command line, a service, a caller of the C interface. A job prints nothing and knows none of them;
// this is all that it needs of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/cancellation.h"
#include "core/status.h"

namespace latebind::app {

// What `progress` counts in bytes: a download from the hub.
inline constexpr std::string_view kLoading = "loading";

// Empty functions are not called. Called on the job's own thread, except progress, which may come from several, one at
// a time.
struct Client {
  // The client's name of an option, for messages: "--max-shape" for "max_shape". By default unchanged.
  std::function<std::string(std::string_view key)> name_of{};
  // Something that the user should know but is not an error.
  std::function<void(std::string_view)> note{};
  // The progress: kLoading, or what is in progress, and how much of the total is done.
  std::function<void(std::string_view activity, std::uint64_t done, std::uint64_t total)> progress{};
  // Ends the job with kCancelled at the next point between two steps.
  core::Cancellation cancellation{};

  // Where to see the log, for messages that refer to it.
  std::string log = "the log";

  void advance(std::string_view activity, std::uint64_t done, std::uint64_t total) const {
    if (progress) progress(activity, done, total);
  }
  [[nodiscard]] core::Status check_cancelled() const {
    return cancellation.is_requested() ? core::Status(core::StatusCode::kCancelled, "the job was cancelled")
                                       : core::Status();
  }
  [[nodiscard]] std::string name(std::string_view key) const { return name_of ? name_of(key) : std::string(key); }
};

}  // namespace latebind::app
