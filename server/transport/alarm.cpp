#include "server/transport/alarm.h"

#include <algorithm>
#include <boost/asio/strand.hpp>
#include <exception>
#include <utility>

namespace latebind::server {
namespace {

constexpr Alarm::Clock::rep kNever = Alarm::Clock::time_point::max().time_since_epoch().count();

}  // namespace

Alarm::Alarm(boost::asio::io_context& io, Clock::duration rest, Ring ring)
    : rest_(rest), ring_(std::move(ring)), timer_(boost::asio::make_strand(io)) {}

// Either this call sees that the alarm is not set, or ring() sees what the caller recorded: both write before they
// read, and the atomics are sequentially consistent.
void Alarm::ring_by(Clock::time_point time) noexcept {
  if (time.time_since_epoch().count() >= next_.load()) return;
  const core::MutexLock lock(mutex_);
  wait(std::max(time, not_before_));
}

void Alarm::wait(Clock::time_point time) noexcept {
  if (is_stopped_ || time.time_since_epoch().count() >= next_.load()) return;
  try {
    timer_.expires_at(time);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) ring();
    });
    next_.store(time.time_since_epoch().count());
  } catch (const std::exception&) {
    next_.store(kNever);  // the timer was not set
  }
}

void Alarm::ring() {
  const auto now = Clock::now();
  {
    const core::MutexLock lock(mutex_);
    if (is_stopped_) return;
    next_.store(kNever);
    not_before_ = now + rest_;
  }
  ring_by(ring_(now));
}

void Alarm::stop() noexcept {
  const core::MutexLock lock(mutex_);
  is_stopped_ = true;
  try {
    timer_.cancel();
  } catch (const std::exception&) {
    // The timer then expires and finds the alarm stopped.
  }
}

}  // namespace latebind::server
