// Keeps track of work that may be inside a vendor's library when the process ends.
//
// exit() destroys the static objects of every library, even while they are in use, and calls the atexit() functions
// along with that, in reverse order of construction and registration. Latebind therefore registers a mark (an atexit()
// function) whenever a vendor may have made static objects. exit() reaches the mark before it destroys those objects.
// From then on the process is ending: calls into vendors' libraries are refused, and exit() waits a short time until no
// thread is in one.
//
// If the main thread ends, Latebind waits before anything is destroyed: first for work on its own threads, then for the
// work that callers have begun on theirs, while new work of callers is held up. Work that takes longer than the limits
// below runs into the destructors; a program that cannot wait leaves by _exit().
//
// All functions may be called from any thread. A child made by fork() inherits no work and starts counting at zero.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "core/platform/process_generation.h"
#include "core/status.h"

namespace latebind::core {

// The limits of exit(): the time it waits in total; the part of it reserved for callers' work if Latebind's own does
// not end, which is also the longest time that new work is held up; and the part reserved for the mark.
inline constexpr std::chrono::milliseconds kExitPatience{5'000};
inline constexpr std::chrono::milliseconds kPausePatience{1'000};
inline constexpr std::chrono::milliseconds kMarkPatience{500};

// Work on one of Latebind's threads, counted while this object lives. The thread that asks for the work creates the
// object before it creates the thread that does the work.
class BackgroundWork {
 public:
  // Returns std::nullopt when the process is ending: no new work may start.
  [[nodiscard]] static std::optional<BackgroundWork> begin() noexcept;

  BackgroundWork(BackgroundWork&& other) noexcept;
  BackgroundWork& operator=(BackgroundWork&& other) noexcept;
  ~BackgroundWork();

 private:
  BackgroundWork() = default;

  platform::MadeIn made_;
  bool counted_ = true;
};

// The number of BackgroundWork objects in this process.
[[nodiscard]] std::size_t background_work() noexcept;

// Work on the caller's thread, counted while this object lives on that thread's stack. Construction and destruction
// each cost one atomic addition.
class ForegroundWork {
 public:
  ForegroundWork() noexcept;
  ForegroundWork(const ForegroundWork&) = delete;
  ForegroundWork& operator=(const ForegroundWork&) = delete;
  ~ForegroundWork();

  // False when the process is ending: no vendor's library may be entered.
  [[nodiscard]] bool may_begin() const { return counted_; }

 private:
  platform::MadeIn made_;
  bool counted_ = false;
};

// Returns kBusy when the process is ending.
[[nodiscard]] Status check_not_ending();
// The error for work that is refused because the process is ending: kBusy.
[[nodiscard]] Status ending_error();

// Registers a mark. Call it when a vendor may have made static objects that later calls use: after a library was
// opened, devices were listed, a model was loaded, or a model ran for the first time. After kMarksMax marks, only calls
// at powers of two register another one.
inline constexpr unsigned kMarksMax = 1024;
void register_exit_mark() noexcept;

}  // namespace latebind::core
