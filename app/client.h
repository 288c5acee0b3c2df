// Whoever has a job done: a command line, a service, a caller of the C interface. A job prints nothing and knows none
// of them; this is what it asks of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/cancellation.h"
#include "core/status.h"

namespace latebind::app {

// What `progress` counts in bytes: a model that comes from the hub.
inline constexpr std::string_view kLoading = "loading";

// What is empty is not called. On the job's own thread, but for progress, which may come from several, one at a time.
struct Client {
  // How an option is called there, for messages: "--max-shape" of "max_shape". By default as it is.
  std::function<std::string(std::string_view key)> name_of{};
  // Something that a person should know, and that is no error.
  std::function<void(std::string_view)> note{};
  // How far it is: kLoading, or what is worked on and how many of all that are done.
  std::function<void(std::string_view activity, std::uint64_t done, std::uint64_t total)> progress{};
  // Ends the job with kCancelled as soon as it is between two steps.
  core::Cancellation cancellation{};

  // Where the log is seen, for messages that send somebody there.
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
