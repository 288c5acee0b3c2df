#include "backends/native/team.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/platform/thread.h"

namespace latebind::native {
namespace {

using Clock = std::chrono::steady_clock;

// Spins for a short time until the condition holds. Returns whether it holds.
template <class Condition>
bool is_soon(const Condition& is_true) {
  const Clock::time_point end = Clock::now() + kPatience;
  do {
    for (int i = 0; i < 64; ++i) {
      if (is_true()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
  } while (Clock::now() < end);
  return is_true();
}

}  // namespace

struct Team::Helper {
  // The task to execute; null before the first task and after each one.
  std::atomic<const Task*> task{nullptr};
  std::size_t member = 0;
  std::atomic<bool> stopping{false};
  core::Mutex mutex;
  core::Condition changed;  // notified when task or stopping changes
  platform::Thread thread;

  void wake() {
    // A thread that is about to sleep either has checked before this lock, and is notified, or checks afterwards.
    { const core::MutexLock lock(mutex); }
    changed.notify_all();
  }
  template <class Condition>
  void wait(const Condition& is_true) {
    if (is_soon(is_true)) return;
    const core::MutexLock lock(mutex);
    changed.wait(mutex, is_true);
  }
};

Team::Team(std::size_t threads) : threads_(std::max<std::size_t>(threads, 1)) {
  for (std::size_t i = 1; i < threads_; ++i) {
    helpers_.push_back(std::make_unique<Helper>());
    idle_.push_back(threads_ - 1 - i);
  }
}

Team::~Team() {
  for (auto& helper : helpers_) {
    if (!made_.this_process()) {
      // The thread belongs to the parent process, and its lock may be held for ever.
      static_cast<void>(helper.release());
      continue;
    }
    if (!helper->thread.joinable()) continue;
    helper->stopping = true;
    helper->wake();
    helper->thread.join();
  }
}

bool Team::start(Helper& helper) noexcept {
  if (helper.thread.joinable()) return true;
  try {
    helper.thread = platform::Thread([&helper] { work(helper); });
    return true;
  } catch (const std::system_error&) {
    return false;  // the team works without this helper
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Team::work(Helper& helper) {
  for (;;) {
    const Task* task = nullptr;
    helper.wait([&] {
      task = helper.task.load(std::memory_order_acquire);
      return task != nullptr || helper.stopping.load(std::memory_order_relaxed);
    });
    if (task == nullptr) return;
    (*task)(helper.member);
    helper.task.store(nullptr, std::memory_order_release);
    helper.wake();
  }
}

Team::Crew Team::take(std::size_t most) {
  if (!made_.this_process()) return {*this, {}};
  std::vector<std::size_t> helpers;
  helpers.reserve(helpers_.size());
  const core::MutexLock lock(mutex_);
  ++busy_;
  while (helpers.size() + 1 < most && busy_ < threads_ && !idle_.empty()) {
    if (!start(*helpers_[idle_.back()])) break;
    helpers.push_back(idle_.back());
    idle_.pop_back();
    ++busy_;
  }
  return {*this, std::move(helpers)};
}

Team::Crew::~Crew() {
  if (team_ == nullptr || !team_->made_.this_process()) return;
  const core::MutexLock lock(team_->mutex_);
  team_->busy_ -= size();
  team_->idle_.insert(team_->idle_.end(), helpers_.begin(), helpers_.end());
}

void Team::Crew::run(const Task& task) {
  for (std::size_t i = 0; i < helpers_.size(); ++i) {
    Helper& helper = *team_->helpers_[helpers_[i]];
    helper.member = i + 1;
    helper.task.store(&task, std::memory_order_release);
    helper.wake();
  }
  task(0);
  for (const std::size_t index : helpers_) {
    Helper& helper = *team_->helpers_[index];
    helper.wait([&] { return helper.task.load(std::memory_order_acquire) == nullptr; });
  }
}

void Barrier::wait() {
  if (members_ == 1) return;
  const std::size_t round = round_.load(std::memory_order_relaxed);
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    missing_.store(members_, std::memory_order_relaxed);
    {
      const core::MutexLock lock(mutex_);
      round_.store(round + 1, std::memory_order_release);
    }
    over_.notify_all();
    return;
  }
  const auto is_over = [&] { return round_.load(std::memory_order_acquire) != round; };
  if (is_soon(is_over)) return;
  const core::MutexLock lock(mutex_);
  over_.wait(mutex_, is_over);
}

}  // namespace latebind::native
