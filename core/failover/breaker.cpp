#include "core/failover/breaker.h"

#include <algorithm>

namespace latebind::core {

Breaker::Breaker(const BreakerPolicy& policy, std::uint32_t seed)
    : policy_(policy), next_backoff_(policy.backoff_first), random_(seed) {}

void Breaker::succeeded() {
  const MutexLock lock(mutex_);
  close();
}

bool Breaker::succeeded_since(std::uint64_t seen) {
  const MutexLock lock(mutex_);
  if (openings_.load(std::memory_order_relaxed) != seen) return false;
  close();
  return true;
}

bool Breaker::failed(Clock::time_point now) {
  const MutexLock lock(mutex_);
  return count_failure(now);
}

bool Breaker::failed_since(std::uint64_t seen, Clock::time_point now) {
  const MutexLock lock(mutex_);
  if (openings_.load(std::memory_order_relaxed) != seen) return false;
  return count_failure(now);
}

void Breaker::close() {
  failures_in_a_row_ = 0;
  next_backoff_ = policy_.backoff_first;
  state_.store(State::kClosed, std::memory_order_release);
}

bool Breaker::count_failure(Clock::time_point now) {
  const State before = state_.load(std::memory_order_relaxed);
  // Requests that were in progress when the breaker opened give no new information.
  if (before == State::kOpen) return false;
  ++failures_in_a_row_;
  if (before == State::kClosed && failures_in_a_row_ < policy_.failures_to_open) return false;
  due_ = now + jittered(next_backoff_);
  const auto grown = std::chrono::duration<double, std::milli>(next_backoff_) * policy_.factor;
  next_backoff_ = std::min(policy_.backoff_most, std::chrono::duration_cast<std::chrono::milliseconds>(grown));
  state_.store(State::kOpen, std::memory_order_release);
  openings_.fetch_add(1, std::memory_order_release);
  return true;
}

std::optional<Breaker::Clock::time_point> Breaker::probe_due() const {
  const MutexLock lock(mutex_);
  if (state_.load(std::memory_order_relaxed) != State::kOpen) return std::nullopt;
  return due_;
}

bool Breaker::begin_probe(Clock::time_point now) {
  const MutexLock lock(mutex_);
  if (state_.load(std::memory_order_relaxed) != State::kOpen || now < due_) return false;
  state_.store(State::kHalfOpen, std::memory_order_release);
  return true;
}

std::chrono::milliseconds Breaker::jittered(std::chrono::milliseconds backoff) {
  std::uniform_real_distribution<double> share(0.0, policy_.jitter);
  const auto extended = std::chrono::duration<double, std::milli>(backoff) * (1.0 + share(random_));
  return std::chrono::duration_cast<std::chrono::milliseconds>(extended);
}

}  // namespace latebind::core
