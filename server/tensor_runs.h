// TensorRuns executes the runs of one model that takes tensors. A run blocks its thread, so there is a thread for each
// request that the device computes in parallel. Further runs wait in a bounded queue.
//
// Thread-safe. Must outlive every run that was started, which `in_flight` counts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/failover/placed_model.h"
#include "core/placement/attestation.h"
#include "core/threads/cancellation.h"
#include "core/threads/mutex.h"
#include "core/threads/thread_pool.h"
#include "server/exchange.h"

namespace latebind::server {

class TensorRuns {
 public:
  struct Ran {
    core::Status status;
    std::vector<core::OutputTensor> outputs{};  // in the model's order; empty on errors
    std::shared_ptr<const core::Attestation> answered_by{};
    std::chrono::steady_clock::duration waiting{};
    std::chrono::steady_clock::duration computing{};
  };
  using Inputs = std::vector<std::vector<std::byte>>;
  using Done = std::function<void(Ran)>;

  // `waiting_max` limits the runs that wait for a thread. `in_flight` counts waiting and running ones.
  TensorRuns(std::shared_ptr<core::PlacedModel> model, std::size_t waiting_max, std::atomic<std::uint64_t>& in_flight)
      : model_(std::move(model)), waiting_max_(waiting_max), in_flight_(in_flight) {}
  TensorRuns(const TensorRuns&) = delete;
  TensorRuns& operator=(const TensorRuns&) = delete;

  // Starts a run. `views` point into `memory`, in the model's order. `done` is called once, on one of these threads,
  // unless the client leaves first or this returns an error. Returns kBusy if too many runs wait.
  [[nodiscard]] core::Status start(const ExchangePtr& exchange, Inputs memory, std::vector<core::TensorView> views,
                                   Done done);

  struct State {
    std::size_t waiting = 0;
    std::size_t running = 0;
  };
  [[nodiscard]] State state() const;

 private:
  struct Run {
    Run(ExchangePtr of, Inputs bytes, std::vector<core::TensorView> inputs, Done then)
        : exchange(std::move(of)), memory(std::move(bytes)), views(std::move(inputs)), done(std::move(then)) {}
    ExchangePtr exchange;
    Inputs memory;
    std::vector<core::TensorView> views;
    Done done;
    const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    bool is_waiting = false;  // guarded by mutex_
    // Destroyed first: its destructor waits for an action that uses the other members.
    std::optional<core::Cancellation::Watch> watch;
  };
  // A list, so that runs move between lists without allocating. Runs are never destroyed under the lock, which the
  // watch's action takes.
  using Runs = std::list<Run>;

  void drop(Runs::iterator run);
  void run_next();
  void execute(Run& run) const;

  const std::shared_ptr<core::PlacedModel> model_;
  const std::size_t waiting_max_;
  std::atomic<std::uint64_t>& in_flight_;

  mutable core::Mutex mutex_;
  std::size_t running_ LB_GUARDED_BY(mutex_) = 0;
  Runs waiting_ LB_GUARDED_BY(mutex_);
  Runs dropped_ LB_GUARDED_BY(mutex_);  // runs whose clients have left

  // Has a task for each run that was added, which takes the first run that still waits. Last, because its threads use
  // the members above.
  core::ThreadPool pool_{0};
};

}  // namespace latebind::server
