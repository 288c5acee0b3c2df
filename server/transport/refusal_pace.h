// RefusalPace: how soon a connection is read again after its request was refused because there is too much to do.
//
// Refusing costs little, but clients that ask again at once make so many requests of it that nothing else would be
// done. So refusals have a share of the processors' time. While they take less, nobody waits. Whoever asks beyond that
// waits for a place in line before the next request is read; it was told to come back later (Retry-After). Any thread.
#pragma once

#include <chrono>
#include <mutex>

namespace latebind::server {

class RefusalPace {
 public:
  using Clock = std::chrono::steady_clock;

  // `processors`: how many of them refusals may keep busy on average. Above 0.
  explicit RefusalPace(double processors) : processors_(processors) {}
  RefusalPace(const RefusalPace&) = delete;
  RefusalPace& operator=(const RefusalPace&) = delete;

  // A request was refused at `now`, for which a processor was busy so long. How long its connection waits: 0 mostly,
  // and at most kLongest.
  [[nodiscard]] Clock::duration after(Clock::duration busy, Clock::time_point now);

  // As long as clients are told to wait.
  static constexpr Clock::duration kLongest = std::chrono::seconds(1);

 private:
  // What any refusal takes: the clocks of threads go in steps of milliseconds on some systems.
  static constexpr Clock::duration kLeast = std::chrono::microseconds(10);
  // What refusals may use at once, after a time without them.
  static constexpr Clock::duration kBurst = std::chrono::milliseconds(250);

  const double processors_;
  std::mutex mutex_;
  Clock::time_point paid_until_{};  // guarded by mutex_: when what was used is paid for
};

}  // namespace latebind::server
