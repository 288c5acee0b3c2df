// BoundedWorker: one thread that handles items in the order in which they were added, so that those who add them do not
// wait: lines of a log, records for a collector, entries of a cache.
//
// Invariants: an item that add() has accepted is handled once, unless the time of end() runs out first, and then it is
// dropped. No more than Options::waiting_max items wait. The handler is called by one thread at a time, and no lock is
// held meanwhile.
//
// Any thread may call the functions. The thread starts with the first item. It shares its state with this object, so
// that a handler which never returns holds up nobody: end() leaves it behind.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/platform/thread.h"
#include "core/threads/mutex.h"

namespace latebind::core {

template <class Item>
class BoundedWorker {
 public:
  using Clock = std::chrono::steady_clock;
  // Receives 1 to Options::batch_max items, which are destroyed after the call. Must not throw.
  using Handle = std::function<void(std::vector<Item>& batch)>;

  struct Options {
    std::size_t waiting_max = 1;
    std::size_t batch_max = 1;
    // How long the worker waits for a batch to become full.
    Clock::duration gather{};
    // How long a new thread waits before it takes its first item.
    Clock::duration head_start{};
    // Whether an idle thread stays. Otherwise it ends, and the next item starts another one.
    bool stays = true;
  };

  BoundedWorker(const Options& options, Handle handle) : state_(std::make_shared<State>(options, std::move(handle))) {}
  BoundedWorker(const BoundedWorker&) = delete;
  BoundedWorker& operator=(const BoundedWorker&) = delete;
  // Like end() without a limit.
  ~BoundedWorker() { (void)end(std::nullopt); }

  enum class Added { kYes, kFull, kNoThread };
  // Takes the content of `item` if the result is kYes, and leaves it alone otherwise. kNoThread: the system cannot
  // start a thread, or the worker has ended. Throws std::bad_alloc.
  [[nodiscard]] Added add(Item& item) {
    State& state = *state_;
    const MutexLock lock(state.mutex);
    if (state.is_ending) return Added::kNoThread;
    if (state.waiting.size() >= state.options.waiting_max) return Added::kFull;
    if (!state.is_running && !state.start(state_)) return Added::kNoThread;
    state.waiting.push_back(std::move(item));
    if (state.waiting.size() == 1 || state.waiting.size() == state.options.batch_max) state.changed.notify_all();
    return Added::kYes;
  }

  // Whether add() would refuse an item now.
  [[nodiscard]] bool is_full() const {
    const MutexLock lock(state_->mutex);
    return state_->waiting.size() >= state_->options.waiting_max;
  }

  // Waits until all items are handled. Those that wait are handled at once, without gathering.
  void settle() {
    State& state = *state_;
    const MutexLock lock(state.mutex);
    ++state.hurrying;
    state.changed.notify_all();
    state.changed.wait(state.mutex, [&state]() LB_REQUIRES(state.mutex) {
      return state.waiting.empty() && !state.is_handling && (state.options.stays || !state.is_running);
    });
    --state.hurrying;
  }

  // Ends the worker: handles the waiting items at once, and drops those that are left after `patience`. Returns false
  // if the handler has not returned by then; it continues alone. Does not wait on the worker's own thread.
  bool end(std::optional<Clock::duration> patience) {
    State& state = *state_;
    platform::Thread thread;
    bool is_over = false;
    {
      const MutexLock lock(state.mutex);
      state.is_ending = true;
      if (patience) state.drop_from = Clock::now() + *patience;
      state.changed.notify_all();
      const auto is_idle = [&state]() LB_REQUIRES(state.mutex) { return !state.is_running; };
      if (state.thread.joinable() && !state.thread.is_this()) {
        if (patience) {
          is_over = state.changed.wait_until(state.mutex, *state.drop_from, is_idle);
        } else {
          state.changed.wait(state.mutex, is_idle);
          is_over = true;
        }
      }
      thread = std::move(state.thread);
    }
    while (state.drop_one()) {
    }
    if (!thread.joinable()) return true;
    if (is_over) {
      thread.join();
    } else {
      thread.detach();
    }
    return is_over;
  }

 private:
  struct State {
    State(const Options& given, Handle given_handle) : options(given), handle(std::move(given_handle)) {
      batch.reserve(options.batch_max);
    }

    [[nodiscard]] bool start(const std::shared_ptr<State>& self) LB_REQUIRES(mutex) {
      try {
        if (thread.joinable()) thread.join();  // it has left its loop
        thread = platform::Thread([self] { self->run(); });
        is_running = true;
        return true;
      } catch (const std::exception&) {
        return false;
      }
    }

    // Destroys the first waiting item without the lock. Returns false if none waits. Allocates nothing, because end()
    // may be called for lack of memory.
    bool drop_one() LB_EXCLUDES(mutex) {
      std::optional<Item> dropped;
      const MutexLock lock(mutex);
      if (waiting.empty()) return false;
      dropped.emplace(std::move(waiting.front()));
      waiting.pop_front();
      return true;
    }

    [[nodiscard]] bool is_hurrying() const LB_REQUIRES(mutex) { return is_ending || hurrying > 0; }
    [[nodiscard]] bool is_late() const LB_REQUIRES(mutex) { return drop_from && Clock::now() >= *drop_from; }

    void run() {
      const MutexLock lock(mutex);
      (void)changed.wait_for(mutex, options.head_start, [this]() LB_REQUIRES(mutex) { return is_hurrying(); });
      for (;;) {
        if (options.stays) {
          changed.wait(mutex, [this]() LB_REQUIRES(mutex) { return is_ending || !waiting.empty(); });
        }
        if (waiting.empty() || is_late()) break;
        (void)changed.wait_for(mutex, options.gather, [this]() LB_REQUIRES(mutex) {
          return is_hurrying() || waiting.size() >= options.batch_max;
        });
        handle_batch();
        if (waiting.empty()) changed.notify_all();
      }
      is_running = false;
      changed.notify_all();
    }

    void handle_batch() LB_REQUIRES(mutex) {
      const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(std::min(waiting.size(), options.batch_max));
      batch.assign(std::make_move_iterator(waiting.begin()), std::make_move_iterator(end));  // allocates nothing
      waiting.erase(waiting.begin(), end);
      is_handling = true;
      {
        const MutexUnlock unlocked(mutex);
        handle(batch);
        batch.clear();
      }
      is_handling = false;
    }

    const Options options;
    const Handle handle;
    std::vector<Item> batch;  // used by the thread only

    Mutex mutex;
    Condition changed;
    std::deque<Item> waiting LB_GUARDED_BY(mutex);
    platform::Thread thread LB_GUARDED_BY(mutex);
    bool is_running LB_GUARDED_BY(mutex) = false;  // until the thread has left its loop
    bool is_handling LB_GUARDED_BY(mutex) = false;
    bool is_ending LB_GUARDED_BY(mutex) = false;
    unsigned hurrying LB_GUARDED_BY(mutex) = 0;  // calls of settle()
    std::optional<Clock::time_point> drop_from LB_GUARDED_BY(mutex);
  };

  const std::shared_ptr<State> state_;
};

}  // namespace latebind::core
