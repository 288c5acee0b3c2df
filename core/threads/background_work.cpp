#include "core/threads/background_work.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "core/platform/process_end.h"
#include "core/threads/mutex.h"

namespace latebind::core {
namespace {

using Clock = std::chrono::steady_clock;

enum class Phase {
  kRunning,
  kPaused,  // the main thread ends, probably in exit(): other threads begin no work until the mark, or for a while
  kEnding,
};

struct State {
  std::atomic<Phase> phase{Phase::kRunning};
  std::atomic<std::size_t> foreground{0};
  std::atomic<unsigned> marks{0};
  Mutex mutex;
  Condition fewer;
  std::size_t background LB_GUARDED_BY(mutex) = 0;
  Clock::duration waited LB_GUARDED_BY(mutex){};        // by exit()
  Clock::duration paused_until LB_GUARDED_BY(mutex){};  // on the clock, if the mark does not come first
};

State& state() noexcept {
  static platform::PerProcess<State> instance;
  return instance.get();
}

// Of the calling thread: if exit() is called in the middle of its work, exit() does not wait for that work.
thread_local std::size_t t_foreground = 0;
thread_local bool t_runs_exit = false;

template <class IsOver>
void wait_at_exit(State& all, Clock::duration patience, const IsOver& is_over) LB_REQUIRES(all.mutex) {
  const auto began = Clock::now();
  (void)all.fewer.wait_until(all.mutex, began + patience, is_over);
  all.waited += Clock::now() - began;
}

// Called when the main thread ends. That need not be exit(): after pthread_exit() other threads continue, after a
// pause.
void main_thread_ends() noexcept {
  State& all = state();
  t_runs_exit = true;
  const MutexLock lock(all.mutex);
  wait_at_exit(all, kExitPatience - kPausePatience - kMarkPatience,
               [&all]() LB_REQUIRES(all.mutex) { return all.background == 0; });
  // Work that begins for the first time makes static objects that exit() would destroy before it reaches a mark.
  Phase running = Phase::kRunning;
  if (!all.phase.compare_exchange_strong(running, Phase::kPaused)) return;
  all.paused_until = Clock::now().time_since_epoch() + kPausePatience;
  wait_at_exit(all, kPausePatience, [&all] { return all.foreground.load() <= t_foreground; });
}

void process_ends() noexcept {
  State& all = state();
  if (all.phase.exchange(Phase::kEnding) == Phase::kEnding) return;
  const MutexLock lock(all.mutex);
  all.fewer.notify_all();
  wait_at_exit(all, std::max<Clock::duration>(kExitPatience - all.waited, kMarkPatience),
               [&all]()
                   LB_REQUIRES(all.mutex) { return all.background == 0 && all.foreground.load() <= t_foreground; });
}

void wait_while_paused(State& all) noexcept {
  const MutexLock lock(all.mutex);
  if (all.fewer.wait_until(all.mutex, Clock::time_point(all.paused_until),
                           [&] { return all.phase.load() != Phase::kPaused; }))
    return;
  Phase paused = Phase::kPaused;
  all.phase.compare_exchange_strong(paused, Phase::kRunning);
}

void leave_foreground(State& all) noexcept {
  all.foreground.fetch_sub(1);
  if (all.phase.load() == Phase::kRunning) return;
  const MutexLock lock(all.mutex);
  all.fewer.notify_all();
}

// exit() destroys the thread-local objects of its thread before all static ones. Only on the main thread is their
// destruction certain to mean exit(), or nearly so: a main thread that ends by pthread_exit() has no other work.
struct WaitsAtExit {
  ~WaitsAtExit() { main_thread_ends(); }
};

bool wait_at_the_end_of_main() noexcept {
  if (!platform::is_main_thread()) return false;
  thread_local const WaitsAtExit waits;
  static_cast<void>(waits);
  return true;
}

// Also covers processes in which only other threads start work: programs and libraries are usually opened on the main
// thread.
[[maybe_unused]] const bool g_waits = wait_at_the_end_of_main();

}  // namespace

std::optional<BackgroundWork> BackgroundWork::begin() noexcept {
  wait_at_the_end_of_main();
  State& all = state();
  const MutexLock lock(all.mutex);
  if (all.phase.load() == Phase::kEnding) return std::nullopt;
  ++all.background;
  return BackgroundWork();
}

BackgroundWork::BackgroundWork(BackgroundWork&& other) noexcept
    : made_(other.made_), counted_(std::exchange(other.counted_, false)) {}

BackgroundWork& BackgroundWork::operator=(BackgroundWork&& other) noexcept {
  std::swap(made_, other.made_);
  std::swap(counted_, other.counted_);
  return *this;
}

BackgroundWork::~BackgroundWork() {
  if (!counted_ || !made_.this_process()) return;
  State& all = state();
  const MutexLock lock(all.mutex);
  if (--all.background == 0) all.fewer.notify_all();
}

std::size_t background_work() noexcept {
  State& all = state();
  const MutexLock lock(all.mutex);
  return all.background;
}

// The invariant: work is counted before it reads the phase, and the end sets the phase before it reads the count, so at
// least one of them sees the other.
ForegroundWork::ForegroundWork() noexcept {
  State& all = state();
  for (;;) {
    all.foreground.fetch_add(1);
    const Phase phase = all.phase.load();
    if (phase == Phase::kRunning || (phase == Phase::kPaused && (t_foreground > 0 || t_runs_exit))) break;
    leave_foreground(all);
    if (phase == Phase::kEnding) return;
    wait_while_paused(all);
  }
  ++t_foreground;
  counted_ = true;
}

ForegroundWork::~ForegroundWork() {
  if (!counted_) return;
  --t_foreground;
  if (made_.this_process()) leave_foreground(state());
}

Status check_not_ending() {
  return state().phase.load() == Phase::kEnding ? ending_error() : Status();
}

Status ending_error() {
  return Status(StatusCode::kBusy, "the process is ending, so vendors' libraries are no longer called");
}

void register_exit_mark() noexcept {
  State& all = state();
  const unsigned marks = all.marks.fetch_add(1, std::memory_order_relaxed) + 1;
  if (marks > kMarksMax && !std::has_single_bit(marks)) return;
  if (all.phase.load() != Phase::kEnding) platform::call_at_exit(&process_ends);
}

}  // namespace latebind::core
