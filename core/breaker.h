// Breaker: rests a device that failed, and says when to try it again.
//
// Closed: requests go to the device. Open: they do not, until the back-off has passed. Half-open: one probe is in
// progress; its success closes the breaker, its failure opens it for longer. Back-offs grow by a factor up to a cap,
// with jitter, so that many processes do not retry a driver at the same moment.
//
// Thread-safe. is_closed() is one atomic read: it is on the path of every request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>

#include "core/platform/random.h"

namespace latebind::core {

struct BreakerPolicy {
  // Failures in a row that open the breaker.
  unsigned failures_to_open = 1;
  std::chrono::milliseconds backoff_first{1000};
  std::chrono::milliseconds backoff_most{300'000};
  double factor = 2.0;
  // Each back-off is longer by a random share of up to this much.
  double jitter = 0.2;
};

class Breaker {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State { kClosed, kOpen, kHalfOpen };

  explicit Breaker(const BreakerPolicy& policy,
                   std::uint32_t seed = static_cast<std::uint32_t>(platform::random_number()));

  [[nodiscard]] bool is_closed() const { return state_.load(std::memory_order_acquire) == State::kClosed; }
  [[nodiscard]] State state() const { return state_.load(std::memory_order_acquire); }

  // How often it has opened so far. Callers read the number when they start a request and report with it.
  [[nodiscard]] std::uint64_t openings() const { return openings_.load(std::memory_order_acquire); }

  // A request succeeded, or a probe did: closed, and the next back-off is the first again.
  void succeeded();
  // A request or a probe failed at `now`. True when that opened the breaker (it was closed or half-open before).
  bool failed(Clock::time_point now);

  // The same for a request that started when the breaker had opened `seen` times. When it has opened since, the result
  // is about the device's earlier state: nothing happens, and the result is false.
  [[nodiscard]] bool succeeded_since(std::uint64_t seen);
  [[nodiscard]] bool failed_since(std::uint64_t seen, Clock::time_point now);

  // When the next probe is due; nothing unless open.
  [[nodiscard]] std::optional<Clock::time_point> probe_due() const;
  // True for one caller once the probe is due: the breaker is half-open until that caller reports the result.
  [[nodiscard]] bool begin_probe(Clock::time_point now);

 private:
  // Under mutex_.
  void close();
  bool count_failure(Clock::time_point now);
  [[nodiscard]] std::chrono::milliseconds jittered(std::chrono::milliseconds backoff);

  const BreakerPolicy policy_;
  // Written under mutex_.
  std::atomic<State> state_{State::kClosed};
  std::atomic<std::uint64_t> openings_{0};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  unsigned failures_in_a_row_ = 0;
  std::chrono::milliseconds next_backoff_;
  Clock::time_point due_{};
  std::minstd_rand random_;
};

}  // namespace latebind::core
