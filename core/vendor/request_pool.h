// RequestPool: a fixed number of warm vendor requests, handed out in order of arrival.
//
// All functions may be called from any thread. A Lease returns its place on every path. A request whose run failed is
// dropped, and the factory creates a new one, so the pool is never drained: if the factory fails or throws, the place
// remains and the next checkout tries again. A lease may outlive the pool, so the factory must own what it refers to.
// Waiting in one pool never blocks another. The queue is bounded: beyond kWaitersMax waiters, or four per request if
// that is more, callers get kBusy at once.
//
// A run may spoil what all requests share. After that no request is handed out, not even to callers that wait already:
// kBusy.
//
// A vendor's call that never returns may hold a lease. calling() says how long each call counts as healthy. Once that
// time has passed for every place, waiting callers get an error instead of waiting forever.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/executable.h"
#include "core/result.h"
#include "core/threads/cancellation.h"
#include "core/threads/mutex.h"

namespace latebind::core {

template <class Request>
class RequestPool {
  struct State;

 public:
  using Factory = std::function<Result<Request>()>;
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kWaitersMax = 1024;

  // One place of the pool, with its request. It belongs to one thread at a time.
  class Lease {
   public:
    Lease(Lease&& other) noexcept
        : state_(std::move(other.state_)), place_(other.place_), broken_(std::exchange(other.broken_, false)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (state_ != nullptr) state_->give_back(place_, broken_);
    }

    // Creates the request if the place has none yet, which calls the vendor's library. Not needed after checkout().
    [[nodiscard]] Status make() {
      auto& request = state_->places[place_].request;
      if (request) return {};
      auto made = state_->factory();
      if (!made.ok()) return made.status();
      request.emplace(*std::move(made));
      return {};
    }
    [[nodiscard]] bool has_request() const { return state_->places[place_].request.has_value(); }
    Request& operator*() { return *state_->places[place_].request; }
    Request* operator->() { return &**this; }
    // Marks the request as untrustworthy: it is replaced instead of reused.
    void mark_broken() { broken_ = true; }
    // Marks all requests of the pool as untrustworthy.
    void spoil() { state_->spoiled_by.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] bool is_spoiled() const { return state_->spoiled_by.load(std::memory_order_relaxed) > 0; }
    // Notes that the vendor is being called now; the call counts as hung if it takes longer than `timeout`.
    void calling(std::chrono::milliseconds timeout) { state_->calling(place_, timeout); }

   private:
    friend class RequestPool;
    Lease(std::shared_ptr<State> state, std::size_t place) : state_(std::move(state)), place_(place) {}

    std::shared_ptr<State> state_;
    std::size_t place_;
    bool broken_ = false;
  };

  // Creates no requests yet; see warm(). `size` is at least 1.
  RequestPool(std::size_t size, Factory factory)
      : state_(std::make_shared<State>(size ? size : 1, std::move(factory))) {}

  // Creates every request now, so that the first runs need not. Stops at the first failure.
  [[nodiscard]] Status warm() {
    std::vector<Lease> leases;
    leases.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) {
      auto lease = checkout({});
      if (!lease.ok()) return lease.status();
      leases.push_back(std::move(*lease));
    }
    return {};
  }

  // Waits for a place. kBusy when the deadline passes or the queue is full, kCancelled when cancellation is requested,
  // kDeviceFailed with "hung: ..." when a hanging call holds every place. The request may still have to be created: see
  // Lease::make().
  [[nodiscard]] Result<Lease> reserve(const RunOptions& options) {
    LB_ASSIGN_OR_RETURN(const std::size_t place, state_->take(options));
    Lease lease(state_, place);
    if (spoiled_by() > 0) {
      return Status(StatusCode::kBusy, "another run left the loaded model unusable: it must be loaded again");
    }
    return lease;
  }
  // Like reserve(), and creates the request; fails with the factory's error.
  [[nodiscard]] Result<Lease> checkout(const RunOptions& options) {
    LB_ASSIGN_OR_RETURN(Lease lease, reserve(options));
    LB_RETURN_IF_ERROR(lease.make());
    return lease;
  }

  [[nodiscard]] std::size_t size() const { return state_->places.size(); }
  [[nodiscard]] std::size_t idle() const {
    const MutexLock lock(state_->mutex);
    return state_->idle.size();
  }
  // How often the pool was spoiled since it was made.
  [[nodiscard]] std::size_t spoiled_by() const { return state_->spoiled_by.load(std::memory_order_relaxed); }
  // The number of callers in the queue.
  [[nodiscard]] std::size_t waiting() const {
    const MutexLock lock(state_->mutex);
    return state_->waiting;
  }

 private:
  struct Place {
    std::optional<Request> request;               // used by the lease while there is one
    bool is_out = false;                          // guarded by State::mutex, as the next member
    std::optional<Clock::time_point> hangs_from;  // when the call that holds this place counts as hung
  };

  // A caller waiting in the queue, on that caller's stack.
  struct Waiter {
    Condition wake;
    std::optional<std::size_t> place;  // the place that it was given
    bool is_hung = false;
    Waiter* before = nullptr;
    Waiter* after = nullptr;
  };

  struct State {
    State(std::size_t size, Factory made_by) : factory(std::move(made_by)), places(size) {
      idle.reserve(size);  // it never grows
      for (std::size_t i = 0; i < size; ++i)
        idle.push_back(i);
    }

    Result<std::size_t> take(const RunOptions& options) {
      Waiter self;
      // Constructed before the lock, because the action may be called at once, and destroyed after it.
      const Cancellation::Watch watch(options.cancellation, [&] {
        const MutexLock waking(mutex);
        self.wake.notify_all();
      });
      const MutexLock lock(mutex);
      if (!idle.empty()) {
        const std::size_t place = idle.back();
        idle.pop_back();
        places[place].is_out = true;
        return place;
      }
      if (waiting >= std::max(kWaitersMax, 4 * places.size())) {
        return Status(StatusCode::kBusy, "all " + std::to_string(places.size()) + " requests of this model are busy, " +
                                             std::to_string(waiting) + " others wait for one");
      }
      join(self);
      while (!self.place && !self.is_hung) {
        if (options.cancellation.is_requested()) {
          leave(self);
          return Status(StatusCode::kCancelled, "the call was cancelled while it waited for a request");
        }
        const auto now = Clock::now();
        if (options.deadline && *options.deadline <= now) {
          leave(self);
          return Status(StatusCode::kBusy, "all " + std::to_string(places.size()) +
                                               " requests of this model stayed busy until the deadline");
        }
        auto until = options.deadline;
        // The first waiter watches for hanging calls on behalf of all.
        if (const auto hang = first == &self ? all_hang_from() : std::nullopt) {
          if (*hang <= now) {
            report_hang();
            break;
          }
          until = until ? std::min(*until, *hang) : *hang;
        }
        if (until) {
          (void)self.wake.wait_until(mutex, *until);
        } else {
          self.wake.wait(mutex);
        }
      }
      if (self.place) return *self.place;
      return Status(StatusCode::kDeviceFailed,
                    "hung: none of the " + std::to_string(places.size()) + " requests of this model comes back");
    }

    void give_back(std::size_t place, bool broken) {
      // Done without the lock, because it frees a vendor's object.
      if (broken) places[place].request.reset();
      const MutexLock lock(mutex);
      places[place].hangs_from.reset();
      if (first == nullptr) {
        places[place].is_out = false;
        idle.push_back(place);
        return;
      }
      Waiter& next = *first;
      leave(next);
      next.place = place;
      next.wake.notify_all();
    }

    void calling(std::size_t place, std::chrono::milliseconds timeout) {
      const MutexLock lock(mutex);
      places[place].hangs_from = limit_after(Clock::now(), timeout);
      if (first != nullptr) first->wake.notify_all();
    }

    void join(Waiter& waiter) LB_REQUIRES(mutex) {
      waiter.before = last;
      (last != nullptr ? last->after : first) = &waiter;
      last = &waiter;
      ++waiting;
    }
    void leave(Waiter& waiter) LB_REQUIRES(mutex) {
      (waiter.before != nullptr ? waiter.before->after : first) = waiter.after;
      (waiter.after != nullptr ? waiter.after->before : last) = waiter.before;
      --waiting;
      if (waiter.before == nullptr && first != nullptr) first->wake.notify_all();
    }
    // Returns when the last of the calls that hold a place will count as hung; std::nullopt while a place is free or
    // may still be returned.
    [[nodiscard]] std::optional<Clock::time_point> all_hang_from() const LB_REQUIRES(mutex) {
      std::optional<Clock::time_point> latest;
      for (const Place& place : places) {
        if (!place.is_out || !place.hangs_from) return std::nullopt;
        latest = latest ? std::max(*latest, *place.hangs_from) : *place.hangs_from;
      }
      return latest;
    }
    void report_hang() LB_REQUIRES(mutex) {
      while (first != nullptr) {
        Waiter& waiter = *first;
        leave(waiter);
        waiter.is_hung = true;
        waiter.wake.notify_all();
      }
    }

    // Destroyed last, because requests depend on what it refers to.
    const Factory factory;
    std::vector<Place> places;  // constant
    std::atomic<std::size_t> spoiled_by{0};
    mutable Mutex mutex;
    std::vector<std::size_t> idle LB_GUARDED_BY(mutex);
    Waiter* first LB_GUARDED_BY(mutex) = nullptr;
    Waiter* last LB_GUARDED_BY(mutex) = nullptr;
    std::size_t waiting LB_GUARDED_BY(mutex) = 0;
  };

  const std::shared_ptr<State> state_;
};

}  // namespace latebind::core
