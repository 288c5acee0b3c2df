// RecentWindow computes the throughput of the last seconds, and latency and padding of the last minute, in constant
// memory.
//
// There is one slot per second. Each has a histogram of latencies whose buckets grow by 8 %, so that percentiles
// between 10 microseconds and 10 minutes are accurate to 4 %. The caller supplies the time. Not thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/observe/metrics.h"

namespace latebind::server {

class RecentWindow {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t kSeconds = 60;
  static constexpr std::int64_t kRateSeconds = 5;

  explicit RecentWindow(Clock::time_point start) : start_(start), slots_(kSeconds) {}

  void add_request(Clock::time_point now, Clock::duration latency) noexcept;
  void add_batch(Clock::time_point now, const BatchRecord& batch) noexcept;

  // Until kRateSeconds have passed since `start`, rates are over the time that has passed.
  [[nodiscard]] RecentFigures figures(Clock::time_point now) const;

 private:
  static constexpr std::size_t kBuckets = 236;

  struct Slot {
    std::int64_t second = -1;  // since start_; -1: never used
    std::uint64_t requests = 0;
    std::uint64_t texts = 0;
    std::uint64_t tokens = 0;
    std::uint64_t computed_tokens = 0;
    std::uint64_t padded_tokens = 0;
    std::array<std::uint32_t, kBuckets> latencies{};
  };

  [[nodiscard]] std::int64_t second_of(Clock::time_point now) const;
  [[nodiscard]] Slot& slot_of(Clock::time_point now) noexcept;

  const Clock::time_point start_;
  std::int64_t newest_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace latebind::server
