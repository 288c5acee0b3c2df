// Work that may be inside a vendor's library when the process ends.
//
// exit() destroys the static objects of every library, even while they are in use, and calls what atexit() was given in
// the same order: the last that came to be is the first to go. So a mark is left behind whenever vendors may have made
// static objects. exit() comes to the mark before it comes to those: from then on the process is ending, no vendor's
// library is entered any more, and exit() waits a short time until nothing is in one. Where the main thread ends, that
// happens before anything is destroyed: work on Latebind's threads is waited for, and then what callers have begun on
// theirs, while what they would begin is held up. Work that takes longer runs into the destructors: a program that
// cannot wait leaves by _exit().
//
// All functions may be called from any thread. A child made by fork() has none of this work, and starts counting at
// zero.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "core/platform/process_generation.h"
#include "core/status.h"

namespace latebind::core {

// How long exit() waits, all in all; how much of that is left for callers' work when Latebind's never ends, and the
// longest that work is held up; and how much is left for the mark.
inline constexpr std::chrono::milliseconds kExitPatience{5'000};
inline constexpr std::chrono::milliseconds kPausePatience{1'000};
inline constexpr std::chrono::milliseconds kMarkPatience{500};

// On one of Latebind's threads. Counted while it lives. On the thread that asks for the work, before there is another
// one to do it.
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

// On the thread of whoever asks for it. Counted while it lives, on that thread's stack. Two atomic additions.
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

// kBusy when the process is ending.
[[nodiscard]] Status check_not_ending();
[[nodiscard]] Status ending_error();

// Leaves a mark. To be called when a vendor may have made static objects that later calls use: its library was opened,
// its devices were listed, a model was loaded, or ran for the first time. From the kMarksMax'th on, most do nothing.
inline constexpr unsigned kMarksMax = 1024;
void mark_what_exit_destroys() noexcept;

}  // namespace latebind::core
