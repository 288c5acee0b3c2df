#include "core/backend/executable.h"

#include <fmt/format.h>

#include "core/text/quote.h"
#include "core/threads/background_work.h"

namespace latebind::core {

std::optional<std::chrono::steady_clock::time_point> limit_after(std::chrono::steady_clock::time_point began,
                                                                 std::optional<std::chrono::milliseconds> timeout) {
  constexpr std::chrono::years kForEver{10};
  if (!timeout || *timeout > kForEver) return std::nullopt;
  return began + *timeout;
}

Status check_time(const RunOptions& options) {
  if (options.cancellation.is_requested()) return Status(StatusCode::kCancelled, "the call was cancelled");
  if (options.deadline && *options.deadline <= std::chrono::steady_clock::now()) {
    return Status(StatusCode::kDeadlineExceeded, "the deadline passed before this could start");
  }
  return {};
}

Status check_counts(const CompileOptions& options) {
  if (options.threads <= kCountMax && options.requests <= kCountMax) return {};
  return Status(StatusCode::kInvalidArgument, fmt::format("{} threads and {} requests: at most {} of each are possible",
                                                          options.threads, options.requests, kCountMax));
}

namespace {

Status check_inputs(std::span<const TensorInfo> declared, std::span<const TensorView> given) {
  if (declared.size() != given.size()) {
    std::string names;
    for (const TensorInfo& info : declared) {
      names += (names.empty() ? "" : ", ") + printable(info.name);
    }
    return Status(StatusCode::kCountMismatch, fmt::format("the model takes {} inputs ({}), but {} were given",
                                                          declared.size(), names, given.size()));
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const TensorInfo& info = declared[i];
    const TensorView& view = given[i];
    if (view.type != info.type) {
      return Status(StatusCode::kTypeMismatch,
                    fmt::format("input {} (position {}) takes {}, but {} was given", core::quoted(info.name), i,
                                name_of(info.type), name_of(view.type)));
    }
    if (!view.shape.is_static() || !info.shape.accepts(view.shape)) {
      return Status(StatusCode::kShapeMismatch,
                    fmt::format("input {} (position {}) takes shape {}, but {} was given", core::quoted(info.name), i,
                                info.shape.to_string(), view.shape.to_string()));
    }
    for (std::size_t d = 0; d < info.upper.size() && d < view.shape.rank(); ++d) {
      if (info.upper[d] >= 0 && view.shape[d] > info.upper[d]) {
        return Status(StatusCode::kShapeMismatch,
                      fmt::format("input {} (position {}) takes at most {} in dimension {}, but shape {} was given",
                                  core::quoted(info.name), i, info.upper[d], d, view.shape.to_string()));
      }
    }
    LB_ASSIGN_OR_RETURN(const std::size_t bytes, byte_size_of(view.type, view.shape));
    if (bytes == 0) continue;
    if (view.data == nullptr) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("input {} (position {}) has no data", core::quoted(info.name), i));
    }
    if (view.strides) {
      const Status fits = view.extent().status();
      if (!fits.ok()) return fits.with_context(fmt::format("input {} (position {})", core::quoted(info.name), i));
    }
  }
  return {};
}

}  // namespace

Executable::Executable() {
  register_exit_mark();
}

Status Executable::execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                           const RunOptions& options) {
  LB_RETURN_IF_ERROR(check_inputs(this->inputs(), inputs));
  if (outputs.size() != this->outputs().size()) {
    return Status(StatusCode::kCountMismatch, fmt::format("the model has {} outputs, but there is room for {}",
                                                          this->outputs().size(), outputs.size()));
  }
  LB_RETURN_IF_ERROR(input_bounds_.check(inputs));
  const ForegroundWork work;
  if (!work.may_begin()) return ending_error();
  Status status = run(inputs, outputs, options);
  if (status.ok() && !has_run_.load(std::memory_order_relaxed) && !has_run_.exchange(true)) register_exit_mark();
  return status;
}

}  // namespace latebind::core
