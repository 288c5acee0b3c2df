// Alarm: rings when the first of the times that it was given has come, and at no other time, so that a server with
// nothing to wait for sleeps.
//
// Internal to the transport. Must outlive what runs on its context, and not the context.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <mutex>

namespace latebind::server {

class Alarm {
 public:
  using Clock = std::chrono::steady_clock;
  // Does what is due at `now`, and gives the time of what is due next; Clock::time_point::max(): nothing is. Called on
  // a thread of the context, never twice at once. Must not throw.
  using Ring = std::function<Clock::time_point(Clock::time_point now)>;

  // `rest`: it does not ring again sooner, however many times were given.
  Alarm(boost::asio::io_context& io, Clock::duration rest, Ring ring);
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Rings once this time has come, or before it: then `ring` says what is due next, and must know of it. Whoever calls
  // this has written down before what is due. Where there is no memory to wait with, the next call waits for all. Any
  // thread.
  void ring_by(Clock::time_point time) noexcept;
  // It rings no more once the call that is in progress has ended. Any thread.
  void stop() noexcept;

 private:
  void wait(Clock::time_point time) noexcept;
  void ring();

  const Clock::duration rest_;
  const Ring ring_;
  std::mutex mutex_;
  boost::asio::steady_timer timer_;                          // guarded by mutex_; on a strand
  Clock::time_point not_before_ = Clock::time_point::min();  // guarded by mutex_
  bool is_stopped_ = false;                                  // guarded by mutex_
  // When it rings; none: max(). Written under mutex_.
  std::atomic<Clock::rep> next_{Clock::time_point::max().time_since_epoch().count()};
};

}  // namespace latebind::server
