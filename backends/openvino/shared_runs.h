// SharedRuns: the runs of one compiled model in which a failed run may change the results of other runs.
//
// After a failure, OpenVINO's CPU plugin keeps the failed shapes in the graph of its stream, and may compute the next
// run with them before the caller of the failed one learns of its failure. That run returns wrong numbers without an
// error. Therefore a result is used only when it is known that no earlier run in the same stream has failed (decision
// 178):
//
//   kOneByOne     for one stream, where the vendor computes one run at a time anyway: a run begins when the outcome of
//                 the previous one is known. This costs nothing.
//   kStarted      for several streams: runs are started and waited for, so each is computed by the thread of a stream,
//                 and the vendor reports them in the order in which a stream computed them. A run that succeeded checks
//                 whether any run that is not known to have ended has failed.
//   kIndependent  for several streams and runs that fail only if memory runs out: only known failures count.
//
// May be used from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/status.h"
#include "core/threads/mutex.h"

namespace latebind::openvino {

enum class RunOrder : std::uint8_t { kOneByOne, kStarted, kIndependent };

class SharedRuns {
 public:
  explicit SharedRuns(RunOrder order) : order_(order) {}

  [[nodiscard]] RunOrder order() const { return order_; }

  // One run. `has_failed` is called during the run, on any thread.
  struct Run {
    std::function<core::Status()>
        compute;                       // makes is_spoiled() true before it returns a failure that may change others
    std::function<bool()> has_failed;  // whether the vendor reports a failure; false positives are allowed
    std::function<bool()> is_spoiled;
  };
  // Computes the run and returns its status. Returns kBusy if another run spoiled the model; there is no result then.
  [[nodiscard]] core::Status run(const Run& run);

 private:
  core::Status run_beside_others(const Run& run);

  const RunOrder order_;
  core::Mutex turn_;  // held during a run with kOneByOne
  core::Mutex mutex_;
  core::Condition ended_;
  std::map<std::uint64_t, const Run*> running_ LB_GUARDED_BY(mutex_);  // by number
  std::uint64_t begun_ LB_GUARDED_BY(mutex_) = 0;
};

}  // namespace latebind::openvino
