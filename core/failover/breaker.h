// Breaker: rests a device that failed, and decides when to try it again.
//
// While the breaker is closed, requests go to the device. While it is open, they do not, until the back-off has passed.
// While it is half-open, one probe is in progress: its success closes the breaker, its failure opens it for longer.
// Back-offs grow by a factor up to a cap. They are jittered, so that many processes do not retry a driver at the same
// moment.
//
// Pure: no lock, no thread, no clock; time is a parameter. The caller serializes the calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

#include "core/platform/random.h"

namespace latebind::core {

struct BreakerPolicy {
  // The number of consecutive failures that opens the breaker.
  unsigned failures_to_open = 1;
  std::chrono::milliseconds backoff_first{1000};
  std::chrono::milliseconds backoff_most{300'000};
  double factor = 2.0;
  // Each back-off is extended by a random share of itself, up to this much.
  double jitter = 0.2;
};

class Breaker {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State { kClosed, kOpen, kHalfOpen };

  explicit Breaker(const BreakerPolicy& policy,
                   std::uint32_t seed = static_cast<std::uint32_t>(platform::random_number()));

  [[nodiscard]] bool is_closed() const { return state_ == State::kClosed; }
  [[nodiscard]] State state() const { return state_; }

  // How often the breaker has opened. A caller reads this number when it starts a request, and reports the result with
  // it.
  [[nodiscard]] std::uint64_t openings() const { return openings_; }

  // Reports that a request or a probe succeeded. Closes the breaker and resets the back-off.
  void succeeded();
  // Reports that a request or a probe failed at `now`. Returns true if that opened the breaker, which was closed or
  // half-open before.
  bool failed(Clock::time_point now);

  // Like succeeded() and failed(), for a request that started when the breaker had opened `seen` times. If it has
  // opened since then, the result is about the device's earlier state: these functions do nothing and return false.
  [[nodiscard]] bool succeeded_since(std::uint64_t seen);
  [[nodiscard]] bool failed_since(std::uint64_t seen, Clock::time_point now);

  // Returns when the next probe is due, or std::nullopt unless the breaker is open.
  [[nodiscard]] std::optional<Clock::time_point> probe_due() const;
  // Returns true once the probe is due. The breaker is then half-open until its result is reported.
  [[nodiscard]] bool begin_probe(Clock::time_point now);

 private:
  [[nodiscard]] std::chrono::milliseconds jittered(std::chrono::milliseconds backoff);

  const BreakerPolicy policy_;
  State state_ = State::kClosed;
  std::uint64_t openings_ = 0;
  unsigned failures_in_a_row_ = 0;
  std::chrono::milliseconds next_backoff_;
  Clock::time_point due_{};
  std::minstd_rand random_;
};

}  // namespace latebind::core
