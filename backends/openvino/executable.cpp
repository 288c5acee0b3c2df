#include "backends/openvino/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/openvino/devices.h"
#include "backends/openvino/integer_range.h"
#include "backends/openvino/properties.h"

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

OpenvinoRun::OpenvinoRun(const std::shared_ptr<const Compiled>& compiled, Lease lease)
    : lease_(std::move(lease)), shared_runs_(compiled->shared_runs.get()) {}

Status OpenvinoRun::compute() {
  const Inside inside;
  trusted_ = false;
  const auto compute = [this] {
    Status status = lease_->compute(given_up_);
    const bool has_failed = status.code() == StatusCode::kOutOfMemory || status.code() == StatusCode::kDeviceFailed;
    if (has_failed && shared_runs_ != nullptr) lease_.spoil();
    return status;
  };
  Status status = shared_runs_ == nullptr ? compute()
                                          : shared_runs_->run({.compute = compute,
                                                               .has_failed = [this] { return lease_->has_failed(); },
                                                               .is_spoiled = [this] { return lease_.is_spoiled(); }});
  trusted_ = status.ok();
  return status;
}

void OpenvinoRun::give_up() {
  const Inside inside;
  given_up_.store(true, std::memory_order_release);
  cancelled_ = lease_->cancel();
}

OpenvinoExecutable::OpenvinoExecutable(const std::shared_ptr<const Compiled>& compiled, std::size_t requests)
    : PooledExecutable(compiled, fmt::format("{}:{}", kBackendName, compiled->device), requests,
                       [compiled] {
                         const Inside inside;
                         return Request::create(*compiled);
                       }),
      narrows_integers_(device_base(compiled->device) == "CPU") {}

Result<std::unique_ptr<core::Executable>> OpenvinoExecutable::create(const std::shared_ptr<const Compiled>& compiled,
                                                                     const core::CompileOptions& options) {
  const Compiled& made = *compiled;
  const unsigned requests = pool_size(options, made.active);
  std::unique_ptr<OpenvinoExecutable> executable(new OpenvinoExecutable(compiled, requests));
  LB_RETURN_IF_ERROR(executable->warm());
  executable->active_ = {.backend = kBackendName,
                         .device = made.device,
                         .device_full_name = full_name_of(*made.core, made.device),
                         .runtime_version = made.library().version,
                         .library_file = made.library().file,
                         .precision = made.active.precision,
                         .threads = made.active.threads,
                         .requests = requests,
                         .packs_tokens = made.packing.has_value(),
                         .kept_shapes = made.active.kept_shapes,
                         .from_cache = !made.blob.bytes.empty()};
  return std::unique_ptr<core::Executable>(std::move(executable));
}

Status OpenvinoExecutable::check_values(std::span<const core::TensorView> inputs) const {
  if (loaded().packing) LB_RETURN_IF_ERROR(check_same_shape(loaded().inputs, inputs));
  return narrows_integers_ ? check_integer_range(loaded().inputs, inputs) : Status();
}

}  // namespace latebind::openvino
