// Client is what a job needs from its caller, be it a command line, a service or the C interface. A job itself prints
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/threads/cancellation.h"

namespace latebind::app {

// The activity whose progress is counted in bytes: a download from the hub.
inline constexpr std::string_view kLoading = "loading";

// Empty functions are not called. The job calls them on its own thread, except for `progress`, which several threads
// may call, one at a time.
struct Client {
  // Returns the client's name for an option, for messages: "--max-shape" for "max_shape". By default the key itself.
  std::function<std::string(std::string_view key)> name_of{};
  // Receives what the user should know but is not an error.
  std::function<void(std::string_view)> note{};
  // Receives a fallback and its reason, which several models may share. By default `note` receives both.
  std::function<void(std::string_view reason, std::string_view fallback)> note_fallback{};
  // Receives the progress: the activity, such as kLoading, and how much of the total is done.
  std::function<void(std::string_view activity, std::uint64_t done, std::uint64_t total)> progress{};
  // Ends the job with kCancelled before its next step.
  core::Cancellation cancellation{};

  // Where the user finds the log, for messages that refer to it.
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
