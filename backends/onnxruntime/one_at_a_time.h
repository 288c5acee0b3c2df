// OneAtATime: for a provider that can be in one session at a time. Whoever has the vendor do something with one of its
// sessions takes a turn, and waits for it no longer than a limit: what hangs in one session must not hold up the
// others.
//
// Thread-safe. Must outlive its turns.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/result.h"

namespace latebind::onnxruntime {

class OneAtATime {
  struct GiveBack {
    void operator()(OneAtATime* of) const { of->give_back(); }
  };

 public:
  // Given back when it is destroyed, on any thread; null: none.
  using Turn = std::unique_ptr<OneAtATime, GiveBack>;

  // How long to wait for a turn, and how long to end a session, which nobody waits for.
  struct Limits {
    std::chrono::milliseconds turn{std::chrono::minutes(2)};
    std::chrono::milliseconds end{std::chrono::seconds(2)};
  };

  OneAtATime() noexcept = default;
  explicit OneAtATime(Limits limits) : limits_(limits) {}

  // kBusy, with what to do, when the limit is over; null as soon as `is_enough` says so.
  [[nodiscard]] core::Result<Turn> take(const std::function<bool()>& is_enough = nullptr);

  // Destroys the session in a turn. When there is none within the limit, whoever has the turn then destroys it, before
  // giving that back.
  void end(std::shared_ptr<void> session);

 private:
  // False when there is no turn until then.
  bool wait_until(std::chrono::steady_clock::time_point limit);
  void give_back();

  const Limits limits_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;                       // guarded by mutex_
  std::vector<std::shared_ptr<void>> left_;  // sessions to be ended; guarded by mutex_
};

}  // namespace latebind::onnxruntime
