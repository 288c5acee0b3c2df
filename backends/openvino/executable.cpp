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

OpenvinoExecutable::OpenvinoExecutable(std::shared_ptr<const Compiled> compiled, std::size_t requests)
    : compiled_(std::move(compiled)),
      narrows_integers_(device_base(compiled_->device) == "CPU"),
      quarantine_(compiled_),
      pool_(requests, [c = compiled_.get()] { return Request::create(*c); }) {}

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
  (void)quarantine_.reap();
  return hung_requests(compiled_->device);
}

Status OpenvinoExecutable::execute(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                   const core::RunOptions& options) {
  LB_RETURN_IF_ERROR(check_inputs(compiled_->inputs, inputs));
  if (narrows_integers_) LB_RETURN_IF_ERROR(check_integer_range(compiled_->inputs, inputs));
  if (outputs.size() != compiled_->outputs.size()) {
    return Status(StatusCode::kCountMismatch, fmt::format("the model gives {} outputs, room was made for {}",
                                                          compiled_->outputs.size(), outputs.size()));
  }
  if (quarantine_.reap() >= Quarantine::kMax) {
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("{} runs on openvino:{} never came back; it gets no more until they do", Quarantine::kMax,
                              compiled_->device));
  }
  LB_ASSIGN_OR_RETURN(auto request, pool_.checkout(options.deadline));
  if (auto bound = request->bind(inputs, outputs, options.deadline.has_value()); !bound.ok()) {
    // A buffer that is too small is the caller's affair; what the vendor refused leaves a request in an unknown state.
    if (bound.code() == StatusCode::kDeviceFailed) request.mark_broken();
    return bound;
  }
  if (options.deadline) {
    auto run = request->run_until(*options.deadline);
    if (run.outcome == Request::Outcome::kHangs) {
      quarantine_.add(request.release_broken());
      return run.status;
    }
    if (!run.status.ok()) {
      request.mark_broken();
      return run.status;
    }
  } else if (auto status = request->run(); !status.ok()) {
    request.mark_broken();
    return status;
  }
  auto collected = request->collect(outputs);
  if (collected.code() == StatusCode::kDeviceFailed) request.mark_broken();
  return collected;
}

}  // namespace latebind::openvino
