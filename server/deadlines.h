// Deadlines: of the requests that are not answered yet, the time by which each must be. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "server/exchange.h"
#include "server/protocols/route.h"

namespace latebind::server {

class Deadlines {
 public:
  using Clock = std::chrono::steady_clock;

  // Until forget(), which whoever answers it calls.
  void add(const ExchangePtr& exchange, Clock::time_point time, const Protocol& protocol);
  // Also of one that has none.
  void forget(const Exchange& exchange) noexcept;
  // Requests whose time is up are answered so, in the words of their protocol, and their texts leave the queue. Gives
  // the time of the next one; max(): there is none.
  [[nodiscard]] Clock::time_point end_late(Clock::time_point now);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Deadline {
    Clock::time_point time;
    std::weak_ptr<Exchange> exchange;
    const Protocol* protocol;
  };

  mutable std::mutex mutex_;
  // Guarded by mutex_. An exchange is answered before its address is another's.
  std::unordered_map<const Exchange*, Deadline> open_;
};

}  // namespace latebind::server
