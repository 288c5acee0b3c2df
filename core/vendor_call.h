// Calls into a vendor's library that callers can abandon.
//
// A vendor's call cannot be taken back, and some never return. So a call with a deadline is made on one of Latebind's
// threads and owns all that it touches: when the time is up, the waiting caller returns, and the call continues by
// itself, keeps alive what it needs, and releases it on its own thread when the vendor returns. Telling the vendor to
// stop is such a call, too. One mechanism for running, loading and compiling, on every backend.
//
// The threads are few, shared by the process, kept for some seconds when idle, and never joined. All of this is
// thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/background_work.h"
#include "core/executable.h"
#include "core/result.h"

namespace latebind::core {

class VendorCall : public std::enable_shared_from_this<VendorCall> {
 public:
  using Clock = std::chrono::steady_clock;

  // Calls in progress at a time in this process, abandoned or not.
  static constexpr std::size_t kMax = 256;
  // Threads beyond those of kMax calls, so that vendors can be told to stop when all of those are taken.
  static constexpr std::size_t kStopsMax = 16;

  // Starts `work`, which owns what it uses and is destroyed on its thread before the call counts as returned. What it
  // throws becomes the call's status. `where` is the device's id. kBusy when kMax calls are in progress already, the
  // system has no thread left, or the process is ending. `stop` tells the vendor to end the work, and may block like
  // any vendor call: see give_up().
  [[nodiscard]] static Result<std::shared_ptr<VendorCall>> start(std::string where, std::function<Status()> work,
                                                                 std::function<void()> stop = nullptr);

  enum class End {
    kReturned,   // see status()
    kDeadline,   // options.deadline passed
    kCancelled,  // options.cancellation was requested
    kTimeout,    // options.run_timeout passed since the start
  };
  // Waits for the first of these. Any number of threads.
  [[nodiscard]] End wait(const RunOptions& options);

  [[nodiscard]] bool has_returned() const;
  // The result of `work`, once it has returned.
  [[nodiscard]] Status status() const;
  [[nodiscard]] Clock::time_point started() const { return started_; }

  // Its `stop` is called on another of Latebind's threads, at once or as soon as there is one, unless the call returns
  // before. Until both have returned, the call counts among the given_up_calls() of its device, and once it has taken
  // longer than `timeout`, if there is one, among its hung_calls(). False, and nothing happens, when it has returned.
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
  // Its thread's alone.
  std::function<Status()> work_;
  std::optional<BackgroundWork> counted_;  // until it has returned
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool returned_ = false;
  bool given_up_ = false;
  bool stopping_ = false;  // `stop` is being called
  Status status_;
  std::function<void()> stop_;  // as long as it may be called
  // Guarded by the lock of the threads.
  std::shared_ptr<VendorCall> next_to_stop_;
  // Guarded by the lock of the list of abandoned calls.
  VendorCall* before_ = nullptr;
  VendorCall* after_ = nullptr;
  std::optional<Clock::time_point> hangs_from_;
};

// Makes the call and waits for it as long as `options` say. The work's status when it returned in time. Else the call
// is abandoned, and the error is kDeadlineExceeded, kCancelled, or kDeviceFailed with "hung: ..." when it was
// options.run_timeout. `stop` owns what it uses, as the work does: the caller never waits for it. On an error the
// caller must not look at what the work shares with it: the work may still be using it.
[[nodiscard]] Status call_until(const RunOptions& options, const std::string& where, std::function<Status()> work,
                                std::function<void()> stop = nullptr);

// True for errors that say nothing about the vendor: the caller's time was up, or there is no thread left.
[[nodiscard]] bool is_of_the_call(const Status& status);

// Abandoned calls on this device (empty: on any) that, or whose `stop`, have not returned: the vendor's objects that
// they hold still exist.
[[nodiscard]] std::size_t given_up_calls(std::string_view where = {});
// Those of them that have taken longer than a run may take: those for which the device is to blame.
[[nodiscard]] std::size_t hung_calls(std::string_view where = {});

// A device with this many hung runs gets neither another run nor a model.
inline constexpr std::size_t kHungCallsMax = 8;
// kDeviceFailed when it has. `refused`: what it does not get, for the message: "run", "model".
[[nodiscard]] Status check_not_hung(std::string_view where, std::string_view refused);

}  // namespace latebind::core
