// PooledExecutable: an executable of a vendor that runs several requests concurrently, each from a pool.
//
// It contains what is the same for every vendor: taking a place in the pool, time limits, abandoning a call that does
// not return, and deciding whose memory the vendor may touch meanwhile. The vendor's part of one run is the class
// `Run`:
//
//   using Request = …;    what is kept warm between runs
//   using Loaded = …;     what runs share; abandoned runs keep it alive
//   Run(std::shared_ptr<const Loaded>, RequestPool<Request>::Lease);
//   RequestPool<Request>::Lease& lease();
//   void limit(options);  (optional) the options of the run, for a vendor that can hold them itself; called first
//   Status place(inputs, outputs, bool in_own_memory);
//                         sets where the run has its tensors; an error is the caller's mistake
//   Status compute();     calls the vendor and reads the result; does nothing after give_up(). With in_own_memory it
//                         does not touch the caller's memory. If other requests may fail because of this one, it spoils
//                         the pool through its lease
//   Status give(outputs); fills the outputs that are not in place yet; does not call the vendor
//   void give_up();       asks the vendor to stop; called from another thread than compute(), may block
//
// The destructor of Run marks the lease broken when the request can no longer be trusted.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/backend/executable.h"
#include "core/vendor/request_pool.h"
#include "core/vendor/vendor_call.h"

namespace latebind::core {

template <class Run>
class PooledExecutable : public Executable {
 public:
  [[nodiscard]] std::size_t hung_runs() override { return given_up_calls(id_); }
  [[nodiscard]] std::size_t spoiled_by() const override { return pool_.spoiled_by(); }

 protected:
  using Pool = RequestPool<typename Run::Request>;

  // `id` is the id of the device: "openvino:CPU".
  PooledExecutable(std::shared_ptr<const typename Run::Loaded> loaded, std::string id, std::size_t requests,
                   typename Pool::Factory factory)
      : loaded_(std::move(loaded)), id_(std::move(id)), pool_(requests, std::move(factory)) {}

  [[nodiscard]] const typename Run::Loaded& loaded() const { return *loaded_; }
  [[nodiscard]] Pool& pool() { return pool_; }
  // Creates all requests, so that the first run is as fast as the second.
  [[nodiscard]] Status warm() { return pool_.warm(); }

  // Checks the values of inputs whose shapes and types were checked. The default accepts all.
  [[nodiscard]] virtual Status check_values(std::span<const TensorView> /*inputs*/) const { return {}; }

 private:
  [[nodiscard]] Status run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                           const RunOptions& options) final {
    LB_RETURN_IF_ERROR(check_values(inputs));
    LB_RETURN_IF_ERROR(check_not_hung(id_, "run"));
    if (!options.is_bounded()) {
      LB_ASSIGN_OR_RETURN(auto lease, pool_.checkout(options));
      Run run(loaded_, std::move(lease));
      if constexpr (requires { run.limit(options); }) run.limit(options);
      LB_RETURN_IF_ERROR(run.place(inputs, outputs, /*in_own_memory=*/false));
      LB_RETURN_IF_ERROR(run.compute());
      return run.give(outputs);
    }
    LB_RETURN_IF_ERROR(check_time(options));
    LB_ASSIGN_OR_RETURN(auto lease, pool_.reserve(options));
    // The last owner returns the place: the caller, or the abandoned vendor call.
    const auto run = std::make_shared<Run>(loaded_, std::move(lease));
    if constexpr (requires { run->limit(options); }) run->limit(options);
    if (options.run_timeout) run->lease().calling(*options.run_timeout);
    if (!run->lease().has_request()) {
      LB_RETURN_IF_ERROR(call_until(options, id_, [run] { return run->lease().make(); }));
    }
    LB_RETURN_IF_ERROR(run->place(inputs, outputs, /*in_own_memory=*/true));
    LB_RETURN_IF_ERROR(call_until(
        options, id_, [run] { return run->compute(); }, [run] { run->give_up(); }));
    return run->give(outputs);
  }

  const std::shared_ptr<const typename Run::Loaded> loaded_;
  const std::string id_;
  Pool pool_;
};

}  // namespace latebind::core
