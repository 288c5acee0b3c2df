#include "core/failover/breaker.h"

#include <algorithm>

namespace latebind::core {

Breaker::Breaker(const BreakerPolicy& policy, std::uint32_t seed)
    : policy_(policy), next_backoff_(policy.backoff_first), random_(seed) {}

void Breaker::succeeded() {
  failures_in_a_row_ = 0;
  next_backoff_ = policy_.backoff_first;
  state_ = State::kClosed;
}

bool Breaker::succeeded_since(std::uint64_t seen) {
  if (openings_ != seen) return false;
  succeeded();
  return true;
}

bool Breaker::failed_since(std::uint64_t seen, Clock::time_point now) {
  return openings_ == seen && failed(now);
}

bool Breaker::failed(Clock::time_point now) {
  // Requests that were in progress when the breaker opened give no new information.
  if (state_ == State::kOpen) return false;
  ++failures_in_a_row_;
  if (state_ == State::kClosed && failures_in_a_row_ < policy_.failures_to_open) return false;
  due_ = now + jittered(next_backoff_);
  const auto grown = std::chrono::duration<double, std::milli>(next_backoff_) * policy_.factor;
  next_backoff_ = std::min(policy_.backoff_most, std::chrono::duration_cast<std::chrono::milliseconds>(grown));
  state_ = State::kOpen;
  ++openings_;
  return true;
}

std::optional<Breaker::Clock::time_point> Breaker::probe_due() const {
  return state_ == State::kOpen ? std::optional(due_) : std::nullopt;
}

bool Breaker::begin_probe(Clock::time_point now) {
  if (state_ != State::kOpen || now < due_) return false;
  state_ = State::kHalfOpen;
  return true;
}

std::chrono::milliseconds Breaker::jittered(std::chrono::milliseconds backoff) {
  std::uniform_real_distribution<double> share(0.0, policy_.jitter);
  const auto extended = std::chrono::duration<double, std::milli>(backoff) * (1.0 + share(random_));
  return std::chrono::duration_cast<std::chrono::milliseconds>(extended);
}

}  // namespace latebind::core
