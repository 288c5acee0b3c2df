#include "core/background_work.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "core/platform/process_end.h"

namespace latebind::core {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable none_left;
  // Guarded by mutex.
  std::size_t count = 0;
  bool ending = false;
  bool in_vain = false;  // it was waited for, and did not end
};

State& state() noexcept {
  static platform::PerProcess<State> instance;
  return instance.get();
}

void wait(std::unique_lock<std::mutex>& lock) noexcept {
  State& all = state();
  if (all.in_vain) return;
  all.in_vain = !all.none_left.wait_for(lock, kExitPatience, [&] { return all.count == 0; });
}

// The objects of the thread that calls exit() go before all static ones. That it is exit() is certain on the main
// thread alone, or as good as that: one that leaves the process to others has nothing else to do.
struct WaitsAtExit {
  ~WaitsAtExit() {
    std::unique_lock lock(state().mutex);
    wait(lock);
  }
};

bool wait_at_the_end_of_main() noexcept {
  if (!platform::is_main_thread()) return false;
  thread_local const WaitsAtExit waits;
  static_cast<void>(waits);
  return true;
}

// Also where only other threads start work: programs and libraries are usually opened on the main thread.
[[maybe_unused]] const bool g_waits = wait_at_the_end_of_main();

}  // namespace

std::optional<BackgroundWork> BackgroundWork::begin() noexcept {
  wait_at_the_end_of_main();
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (all.ending) return std::nullopt;
  ++all.count;
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
  const std::lock_guard lock(all.mutex);
  if (--all.count == 0) all.none_left.notify_all();
}

std::size_t background_work() noexcept {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  return all.count;
}

void wait_for_background_work_at_exit() noexcept {
  platform::call_at_exit([] {
    State& all = state();
    std::unique_lock lock(all.mutex);
    wait(lock);
    all.ending = true;
  });
}

}  // namespace latebind::core
