// RefusalPace delays the next read on a connection whose request was refused for overload.
//
// A refusal is cheap, but clients that retry at once can send so many requests that refusing them takes all processor
// time. Refusals therefore get a share of the processors. Below the share, no connection waits. Beyond it, a connection
// waits for its turn before its next request is read; Retry-After has asked the client to come back later. Thread-safe.
#pragma once

#include <chrono>

#include "core/threads/mutex.h"

namespace latebind::server {

class RefusalPace {
 public:
  using Clock = std::chrono::steady_clock;

  // `processors` is how many of them refusals may occupy on average, above 0.
  explicit RefusalPace(double processors) : processors_(processors) {}
  RefusalPace(const RefusalPace&) = delete;
  RefusalPace& operator=(const RefusalPace&) = delete;

  // Records a refusal at `now` that took `busy` of processor time. Returns how long its connection waits: usually 0, at
  // most kLongest.
  [[nodiscard]] Clock::duration after(Clock::duration busy, Clock::time_point now);

  // As long as clients are asked to wait.
  static constexpr Clock::duration kLongest = std::chrono::seconds(1);

 private:
  // The least cost of a refusal, because some systems measure thread time in milliseconds.
  static constexpr Clock::duration kLeast = std::chrono::microseconds(10);
  // The time that refusals may use at once after a period without any.
  static constexpr Clock::duration kBurst = std::chrono::milliseconds(250);

  const double processors_;
  core::Mutex mutex_;
  Clock::time_point paid_until_ LB_GUARDED_BY(mutex_){};  // when the time used so far is paid for
};

}  // namespace latebind::server
