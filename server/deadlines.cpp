#include "server/deadlines.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace latebind::server {

void Deadlines::add(const ExchangePtr& exchange, Clock::time_point time, const Protocol& protocol) {
  const core::MutexLock lock(mutex_);
  open_.insert_or_assign(exchange.get(), Deadline{.time = time, .exchange = exchange, .protocol = &protocol});
}

void Deadlines::forget(const Exchange& exchange) noexcept {
  const core::MutexLock lock(mutex_);
  open_.erase(&exchange);
}

Deadlines::Clock::time_point Deadlines::end_late(Clock::time_point now) {
  std::vector<Deadline> late;
  auto next = Clock::time_point::max();
  {
    const core::MutexLock lock(mutex_);
    late.reserve(open_.size());  // allocates first, so that no deadline is lost if memory is missing
    for (auto one = open_.begin(); one != open_.end();) {
      Deadline& deadline = one->second;
      if (now < deadline.time) {
        next = std::min(next, deadline.time);
        ++one;
      } else {
        late.push_back(std::move(deadline));
        one = open_.erase(one);
      }
    }
  }
  // Without the lock: if this is the last reference to an exchange, its destructor answers it and calls forget().
  for (const Deadline& one : late) {
    const auto exchange = one.exchange.lock();
    if (exchange == nullptr || exchange->is_answered()) continue;
    try {
      refuse(*exchange, *one.protocol,
             {.kind = RefusalKind::kTimeout, .message = "the request timed out before it was answered", .param = {}});
    } catch (const std::bad_alloc&) {
      // The cancellation below ends it without an answer.
    }
    exchange->gone().request();
  }
  return next;
}

std::size_t Deadlines::size() const {
  const core::MutexLock lock(mutex_);
  return open_.size();
}

}  // namespace latebind::server
