// VendorCall: a call into a vendor's library that callers can abandon (core/threads/abandonable_call.h).
//
// A call with a deadline is made on one of Latebind's threads and owns everything it touches. When the time is up, the
// waiting caller returns, and the call continues. A request to the vendor to stop is such a call, too. Running, loading
// and compiling use this mechanism on every backend. All functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/backend/executable.h"
#include "core/result.h"
#include "core/threads/abandonable_call.h"

namespace latebind::core {

class VendorCall final : public AbandonableCall {
 public:
  // Starts `work`, which owns what it uses and is destroyed on its thread before the call counts as returned. If it
  // throws, the exception becomes the call's status. `where` is the device's id. `stop` asks the vendor to end the
  // work, and may block like any vendor call: see give_up(). Returns kBusy when kMax calls are in progress already,
  // when the system has no thread left, or when the process is ending.
  [[nodiscard]] static Result<std::shared_ptr<VendorCall>> start(std::string where, std::function<Status()> work,
                                                                 std::function<void()> stop = nullptr);

  enum class End {
    kReturned,   // see status()
    kDeadline,   // options.deadline passed
    kCancelled,  // options.cancellation was requested
    kTimeout,    // options.run_timeout passed since the start
  };
  // Waits for the first of these. Any number of threads may wait.
  [[nodiscard]] End wait(const RunOptions& options);

  // Abandons the call. Until its work and its `stop` have returned, it counts among the given_up_calls() of its device
  // and, once it has taken longer than `timeout` (if set), among its hung_calls(). Returns false, and does nothing, if
  // the call has returned already.
  [[nodiscard]] bool give_up(std::optional<std::chrono::milliseconds> timeout);

  // See given_up_calls() and hung_calls().
  [[nodiscard]] static std::size_t given_up(std::string_view where);
  [[nodiscard]] static std::size_t hung(std::string_view where);

 private:
  class GivenUp;

  VendorCall(std::string where, std::function<Status()> work, std::function<void()> stop)
      : AbandonableCall(std::move(work), std::move(stop)), where_(std::move(where)) {}
  void on_abandoned() override;
  void on_released() override;

  const std::string where_;
  // Guarded by the mutex of GivenUp.
  VendorCall* before_ = nullptr;
  VendorCall* after_ = nullptr;
  std::optional<Clock::time_point> hangs_from_;
};

// Makes the call and waits as long as `options` allow. Returns the work's status if it returned in time. Otherwise it
// abandons the call and returns kDeadlineExceeded, kCancelled, or kDeviceFailed with "hung: ..." when
// options.run_timeout passed. `stop`, like the work, owns what it uses, because the caller never waits for it. On an
// error the caller must not access what the work shares with it: the work may still be using it.
[[nodiscard]] Status call_until(const RunOptions& options, const std::string& where, std::function<Status()> work,
                                std::function<void()> stop = nullptr);

// Whether the error says nothing about the vendor: the caller's time was up, or no thread was left.
[[nodiscard]] bool is_of_the_call(const Status& status);

// Returns the number of abandoned calls on this device (any device if empty) that have not returned, or whose `stop`
// has not. The vendor's objects that they hold still exist.
[[nodiscard]] std::size_t given_up_calls(std::string_view where = {});
// Returns the number of those calls that have taken longer than a run may take. The device is to blame for them.
[[nodiscard]] std::size_t hung_calls(std::string_view where = {});

// A device with this many hung runs gets neither another run nor another model.
inline constexpr std::size_t kHungCallsMax = 8;
// Returns kDeviceFailed when the device has that many. `refused` names what it does not get, for the message: "run",
// "model".
[[nodiscard]] Status check_not_hung(std::string_view where, std::string_view refused);

}  // namespace latebind::core
