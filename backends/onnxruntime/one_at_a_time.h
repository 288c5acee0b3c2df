// OneAtATime: serialises the use of a provider that supports one active session at a time. A caller takes a turn before
// it uses a session of the provider. Waiting for a turn is limited, so that a session that hangs does not block the
// others.
//
// Thread-safe. Must outlive its turns.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "core/result.h"
#include "core/threads/mutex.h"

namespace latebind::onnxruntime {

class OneAtATime {
  struct GiveBack {
    void operator()(OneAtATime* of) const { of->give_back(); }
  };

 public:
  // Returned to the OneAtATime when it is destroyed, on any thread; may be null.
  using Turn = std::unique_ptr<OneAtATime, GiveBack>;

  // How long to wait for a turn, and how long to wait before a session is destroyed, for which no caller waits.
  struct Limits {
    std::chrono::milliseconds turn{std::chrono::minutes(2)};
    std::chrono::milliseconds end{std::chrono::seconds(2)};
  };

  OneAtATime() noexcept = default;
  explicit OneAtATime(Limits limits) : limits_(limits) {}

  // Returns kBusy, with a remedy, after the limit; and null as soon as `is_enough` returns true.
  [[nodiscard]] core::Result<Turn> take(const std::function<bool()>& is_enough = nullptr);

  // Destroys the session in a turn. If no turn is available within the limit, the current holder destroys the session
  // before it returns its turn.
  void end(std::shared_ptr<void> session);

 private:
  // Returns false if no turn is available by then.
  bool wait_until(std::chrono::steady_clock::time_point limit);
  void give_back();

  const Limits limits_{};
  core::Mutex mutex_;
  core::Condition changed_;
  bool taken_ LB_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<void>> left_ LB_GUARDED_BY(mutex_);  // sessions to destroy
};

}  // namespace latebind::onnxruntime
