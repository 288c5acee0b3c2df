// Work on Latebind's threads that may be inside a vendor's library when the process ends.
//
// exit() destroys the static objects of every library, even while they are in use. So such work is counted, and exit()
// waits a short time until there is none: on the main thread before anything is destroyed, and, for an exit() that
// another thread calls, before anything is destroyed that existed when the first vendor's library had been opened. Work
// that takes longer runs into the destructors: a program that cannot wait leaves by _exit().
//
// All functions may be called from any thread. A child made by fork() has none of this work, and starts counting at
// zero.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "core/platform/process_generation.h"

namespace latebind::core {

// How long exit() waits.
inline constexpr std::chrono::milliseconds kExitPatience{5'000};

// Counted while it lives. On the thread that asks for the work, before there is another one to do it.
class BackgroundWork {
 public:
  // Nothing when the process is ending: no new work is started.
  [[nodiscard]] static std::optional<BackgroundWork> begin() noexcept;

  BackgroundWork(BackgroundWork&& other) noexcept;
  BackgroundWork& operator=(BackgroundWork&& other) noexcept;
  ~BackgroundWork();

 private:
  BackgroundWork() = default;

  platform::MadeIn made_;
  bool counted_ = true;
};

[[nodiscard]] std::size_t background_work() noexcept;

// To be called when a vendor's library has been opened: handlers registered now run before the library's destructors.
void wait_for_background_work_at_exit() noexcept;

}  // namespace latebind::core
