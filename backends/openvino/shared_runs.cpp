#include "backends/openvino/shared_runs.h"

#include <algorithm>
#include <vector>

namespace latebind::openvino {
namespace {

using core::Status;

Status spoiled() {
  return Status(core::StatusCode::kBusy, "another run left the loaded model unusable: it must be loaded again");
}

}  // namespace

Status SharedRuns::run(const Run& run) {
  if (order_ == RunOrder::kOneByOne) {
    const core::MutexLock lock(turn_);
    return run.is_spoiled() ? spoiled() : run.compute();
  }
  if (run.is_spoiled()) return spoiled();
  Status status = order_ == RunOrder::kStarted ? run_beside_others(run) : run.compute();
  return status.ok() && run.is_spoiled() ? spoiled() : status;
}

Status SharedRuns::run_beside_others(const Run& run) {
  std::uint64_t number = 0;
  {
    const core::MutexLock lock(mutex_);
    number = begun_++;
    running_.emplace(number, &run);
  }
  Status status = run.compute();
  const core::MutexLock lock(mutex_);
  running_.erase(number);
  ended_.notify_all();
  if (!status.ok()) return status;
  // The runs whose failure may not be known yet. It is known when they have ended.
  std::vector<std::uint64_t> failed;
  for (const auto& [other, running] : running_)
    if (running->has_failed()) failed.push_back(other);
  ended_.wait(mutex_, [this, &failed]() LB_REQUIRES(mutex_) {
    return std::ranges::none_of(failed, [this](std::uint64_t other) { return running_.contains(other); });
  });
  return status;
}

}  // namespace latebind::openvino
