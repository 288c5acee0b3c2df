#include "backends/openvino/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "backends/openvino/devices.h"
#include "backends/openvino/integer_range.h"
#include "backends/openvino/properties.h"
#include "core/vendor_call.h"

namespace latebind::openvino {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr unsigned kRequestsMax = 256;
constexpr unsigned kRequestsWhenUnknown = 4;

unsigned pool_size(const core::CompileOptions& options, const Active& active) {
  if (options.requests != 0) return std::min(options.requests, kRequestsMax);
  return std::min(active.optimal_requests != 0 ? active.optimal_requests : kRequestsWhenUnknown, kRequestsMax);
}

}  // namespace

// One run with the place in the pool that it has. Whoever lets go of it last gives the place back: the caller, or the
// vendor's call that was given up.
class OpenvinoExecutable::Run {
 public:
  explicit Run(Pool::Lease lease) : lease_(std::move(lease)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    if (!trusted_ || cancelled_) lease_.mark_broken();
  }

  [[nodiscard]] Pool::Lease& lease() { return lease_; }
  Status compute() {
    trusted_ = false;
    LB_RETURN_IF_ERROR(lease_->compute(given_up_));
    trusted_ = true;
    return {};
  }
  // From another thread than compute()'s.
  void give_up() {
    given_up_.store(true, std::memory_order_release);
    cancelled_ = lease_->cancel();
  }

 private:
  Pool::Lease lease_;
  bool trusted_ = true;
  bool cancelled_ = false;
  std::atomic<bool> given_up_{false};
};

OpenvinoExecutable::OpenvinoExecutable(std::shared_ptr<const Compiled> compiled, std::size_t requests)
    : compiled_(std::move(compiled)),
      id_(fmt::format("{}:{}", kBackendName, compiled_->device)),
      narrows_integers_(device_base(compiled_->device) == "CPU"),
      pool_(requests, [c = compiled_] { return Request::create(*c); }) {}

Result<std::unique_ptr<core::Executable>> OpenvinoExecutable::create(std::shared_ptr<const Compiled> compiled,
                                                                     const core::CompileOptions& options) {
  const Compiled& made = *compiled;
  const unsigned requests = pool_size(options, made.active);
  std::unique_ptr<OpenvinoExecutable> executable(new OpenvinoExecutable(std::move(compiled), requests));
  LB_RETURN_IF_ERROR(executable->pool_.warm());
  executable->active_ = {.backend = kBackendName,
                         .device = made.device,
                         .device_full_name = full_name_of(*made.core, made.device),
                         .runtime_version = made.library().version,
                         .library_file = made.library().file,
                         .precision = made.active.precision,
                         .threads = made.active.threads,
                         .requests = requests,
                         .from_cache = !made.blob.bytes.empty()};
  return std::unique_ptr<core::Executable>(std::move(executable));
}

std::size_t OpenvinoExecutable::hung_runs() {
  return core::given_up_calls(id_);
}

Status OpenvinoExecutable::execute(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                   const core::RunOptions& options) {
  LB_RETURN_IF_ERROR(check_inputs(compiled_->inputs, inputs));
  if (narrows_integers_) LB_RETURN_IF_ERROR(check_integer_range(compiled_->inputs, inputs));
  if (outputs.size() != compiled_->outputs.size()) {
    return Status(StatusCode::kCountMismatch, fmt::format("the model gives {} outputs, room was made for {}",
                                                          compiled_->outputs.size(), outputs.size()));
  }
  LB_RETURN_IF_ERROR(core::check_not_hung(id_, "run"));
  if (!options.is_bounded()) {
    LB_ASSIGN_OR_RETURN(auto lease, pool_.checkout(options));
    Run run(std::move(lease));
    LB_RETURN_IF_ERROR(run.lease()->place(inputs, outputs, /*in_own_memory=*/false));
    LB_RETURN_IF_ERROR(run.compute());
    return run.lease()->give(outputs);
  }
  LB_RETURN_IF_ERROR(core::check_time(options));
  LB_ASSIGN_OR_RETURN(auto lease, pool_.reserve(options));
  const auto run = std::make_shared<Run>(std::move(lease));
  if (options.run_timeout) run->lease().calling(*options.run_timeout);
  if (!run->lease().has_request()) {
    LB_RETURN_IF_ERROR(core::call_until(options, id_, [run] { return run->lease().make(); }));
  }
  LB_RETURN_IF_ERROR(run->lease()->place(inputs, outputs, /*in_own_memory=*/true));
  LB_RETURN_IF_ERROR(core::call_until(
      options, id_, [run] { return run->compute(); }, [run] { run->give_up(); }));
  return run->lease()->give(outputs);
}

}  // namespace latebind::openvino
