// Alarm is a timer that rings at the earliest of several requested times and at no other, so that an idle server
// sleeps.
//
// Internal to the transport. It must outlive what runs on its context, but not the context.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>

#include "core/threads/mutex.h"

namespace latebind::server {

class Alarm {
 public:
  using Clock = std::chrono::steady_clock;
  // Does what is due at `now` and returns when the next thing is due, or Clock::time_point::max(). Called on a thread
  // of the context, never concurrently. Must not throw.
  using Ring = std::function<Clock::time_point(Clock::time_point now)>;

  // `rest` is the minimum time between two rings.
  Alarm(boost::asio::io_context& io, Clock::duration rest, Ring ring);
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Requests a ring at `time` at the latest. The alarm may ring earlier, and relies on `ring` to know what is due next,
  // so the caller must record that before this call. If memory for the timer is missing, the next call covers both.
  // Thread-safe.
  void ring_by(Clock::time_point time) noexcept;
  // Prevents further rings; one in progress still completes. Thread-safe.
  void stop() noexcept;

 private:
  void wait(Clock::time_point time) noexcept LB_REQUIRES(mutex_);
  void ring();

  const Clock::duration rest_;
  const Ring ring_;
  core::Mutex mutex_;
  boost::asio::steady_timer timer_ LB_GUARDED_BY(mutex_);  // on a strand
  Clock::time_point not_before_ LB_GUARDED_BY(mutex_) = Clock::time_point::min();
  bool is_stopped_ LB_GUARDED_BY(mutex_) = false;
  // The time of the next ring, or max(). Written under mutex_.
  std::atomic<Clock::rep> next_{Clock::time_point::max().time_since_epoch().count()};
};

}  // namespace latebind::server
