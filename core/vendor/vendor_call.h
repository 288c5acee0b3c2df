// VendorCall: a call into a vendor's library that callers can abandon.
//
// A vendor's call cannot be taken back, and some calls never return. Therefore a call with a deadline is made on one of
// Latebind's threads and owns everything it touches. When the time is up, the waiting caller returns. The call
// continues, keeps alive what it needs, and releases it on its own thread when the vendor returns. A request to the
// vendor to stop is such a call, too. Running, loading and compiling use this mechanism on every backend.
//
// The process shares a few threads for this. They are kept for some seconds when idle and never joined. All functions
// may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/backend/executable.h"
#include "core/result.h"
#include "core/threads/background_work.h"
#include "core/threads/mutex.h"

namespace latebind::core {

class VendorCall : public std::enable_shared_from_this<VendorCall> {
 public:
  using Clock = std::chrono::steady_clock;

  // The largest number of calls in progress in this process, abandoned ones included.
  static constexpr std::size_t kMax = 256;
  // Threads beyond those of kMax calls, so that vendors can be asked to stop even when all of those are taken.
  static constexpr std::size_t kStopsMax = 16;

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

  [[nodiscard]] bool has_returned() const;
  // Returns the result of `work` once it has returned.
  [[nodiscard]] Status status() const;
  [[nodiscard]] Clock::time_point started() const { return started_; }

  // Abandons the call. Its `stop` runs on another of Latebind's threads, at once or as soon as one is free, unless the
  // call returns before that. Until both have returned, the call counts among the given_up_calls() of its device and,
  // once it has taken longer than `timeout` (if set), among its hung_calls(). Returns false, and does nothing, if the
  // call has returned already.
  [[nodiscard]] bool give_up(std::optional<std::chrono::milliseconds> timeout);

  VendorCall(const VendorCall&) = delete;
  VendorCall& operator=(const VendorCall&) = delete;
  ~VendorCall() = default;

 private:
  friend class VendorThreads;
  VendorCall(std::string where, std::function<Status()> work, std::function<void()> stop)
      : where_(std::move(where)), work_(std::move(work)), stop_(std::move(stop)) {}
  void run();
  void stop();

  const std::string where_;
  const Clock::time_point started_ = Clock::now();
  // Used only by the call's thread.
  std::function<Status()> work_;
  std::optional<BackgroundWork> counted_;  // until the call has returned
  mutable Mutex mutex_;
  Condition changed_;
  bool returned_ LB_GUARDED_BY(mutex_) = false;
  bool given_up_ LB_GUARDED_BY(mutex_) = false;
  bool stopping_ LB_GUARDED_BY(mutex_) = false;  // `stop` is being called
  Status status_ LB_GUARDED_BY(mutex_);
  std::function<void()> stop_ LB_GUARDED_BY(mutex_);  // empty once it may no longer be called
  // Guarded by the mutex of VendorThreads.
  std::shared_ptr<VendorCall> next_to_stop_;
  // Guarded by the mutex of the list of abandoned calls.
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
