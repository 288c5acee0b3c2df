// Deadlines holds the deadline of every request that is not answered yet. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <unordered_map>

#include "core/threads/mutex.h"
#include "server/exchange.h"
#include "server/protocols/route.h"

namespace latebind::server {

class Deadlines {
 public:
  using Clock = std::chrono::steady_clock;

  // Adds a deadline, which ends with forget() when the request is answered.
  void add(const ExchangePtr& exchange, Clock::time_point time, const Protocol& protocol);
  // Does nothing for an exchange without a deadline.
  void forget(const Exchange& exchange) noexcept;
  // Answers the requests whose time is up with a timeout in their protocol's form and cancels their work. Returns the
  // next deadline, or max() without deadlines.
  [[nodiscard]] Clock::time_point end_late(Clock::time_point now);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Deadline {
    Clock::time_point time;
    std::weak_ptr<Exchange> exchange;
    const Protocol* protocol;
  };

  mutable core::Mutex mutex_;
  // An entry never outlives its exchange, so an address is never reused while it is a key.
  std::unordered_map<const Exchange*, Deadline> open_ LB_GUARDED_BY(mutex_);
};

}  // namespace latebind::server
