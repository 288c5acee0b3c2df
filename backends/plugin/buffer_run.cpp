// Runs on memory of the device: PluginExecutable::execute_to_buffers().
#include <fmt/format.h>

#include <deque>
#include <utility>

#include "backends/plugin/executable.h"
#include "core/text/quote.h"
#include "core/threads/background_work.h"
#include "core/vendor/vendor_call.h"

namespace latebind::plugin {
namespace {

using core::OutputTensor;
using core::Result;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

// One run. It owns what the plug-in uses: an abandoned call may still use it.
class BufferRun {
 public:
  BufferRun(std::shared_ptr<const Loaded> loaded, PluginRun::Lease lease)
      : loaded_(std::move(loaded)), lease_(std::move(lease)) {}

  // With `keeps`, tensors in the caller's memory are copied.
  [[nodiscard]] Status place(std::span<const PlacedTensor> inputs, std::span<const PlacedTensor> outputs,
                             const core::RunOptions& options, bool keeps);
  [[nodiscard]] PluginRun::Lease& lease() { return lease_; }
  [[nodiscard]] Status compute();
  void give_up() { loaded_->stop(given_); }

 private:
  [[nodiscard]] Status add(std::vector<const lbb_tensor*>& list, const TensorInfo& info, const PlacedTensor& placed,
                           bool keeps);

  const std::shared_ptr<const Loaded> loaded_;
  PluginRun::Lease lease_;
  GivenRun given_;
  // Deques, because the elements are referred to.
  std::deque<PlacedTensor> placed_;
  std::deque<lbb_tensor> tensors_;
  std::deque<OutputTensor> copies_;
  std::vector<const lbb_tensor*> inputs_;
  std::vector<const lbb_tensor*> outputs_;
};

Status BufferRun::add(std::vector<const lbb_tensor*>& list, const TensorInfo& info, const PlacedTensor& placed,
                      bool keeps) {
  const std::string what = core::quoted(info.name);
  const core::TensorView& view = placed.view;
  if (view.type != info.type) {
    return Status(StatusCode::kTypeMismatch,
                  fmt::format("{} is {}, but {} was given", what, core::name_of(info.type), core::name_of(view.type)));
  }
  if (!view.shape.is_static() || !info.shape.accepts(view.shape)) {
    return Status(StatusCode::kShapeMismatch, fmt::format("{} has shape {}, but {} was given", what,
                                                          info.shape.to_string(), view.shape.to_string()));
  }
  LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(view.type, view.shape));
  const PlacedTensor& kept = placed_.emplace_back(placed);
  lbb_tensor& tensor = tensors_.emplace_back(sized<lbb_tensor>());
  tensor.type = static_cast<std::int32_t>(view.type);
  tensor.dims = kept.view.shape.dims().data();
  tensor.rank = kept.view.shape.rank();
  list.push_back(&tensor);
  if (placed.buffer != nullptr) {
    if (&placed.buffer->state() != loaded_->state.get())
      return Status(StatusCode::kInvalidArgument, fmt::format("{} is in a buffer of another backend", what));
    LB_RETURN_IF_ERROR(placed.buffer->check(placed.offset, bytes).with_context(what));
    tensor.buffer = placed.buffer->handle();
    tensor.offset = placed.offset;
    return {};
  }
  if (view.data == nullptr && bytes > 0)
    return Status(StatusCode::kInvalidArgument, fmt::format("{} has no data", what));
  tensor.data = view.data;
  if (!keeps && view.is_contiguous() && core::is_aligned(view.data, view.type)) return {};
  LB_ASSIGN_OR_RETURN(void* const copy, copies_.emplace_back().prepare(view.type, view.shape));
  tensor.data = copy;
  return view.copy_to_contiguous(copy);
}

Status BufferRun::place(std::span<const PlacedTensor> inputs, std::span<const PlacedTensor> outputs,
                        const core::RunOptions& options, bool keeps) {
  given_.limit(options);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    LB_RETURN_IF_ERROR(add(inputs_, loaded_->inputs[i], inputs[i], keeps));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].buffer == nullptr)
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} is in no buffer", core::quoted(loaded_->outputs[i].name)));
    LB_RETURN_IF_ERROR(add(outputs_, loaded_->outputs[i], outputs[i], keeps));
  }
  return {};
}

Status BufferRun::compute() {
  const Plugin& plugin = loaded_->state->plugin();
  LB_RETURN_IF_ERROR(plugin.check_process());
  if (given_.is_given_up()) return Status(StatusCode::kCancelled, "the run was given up");
  lbb_error error;
  Status status = called(plugin.name, "execute_to_buffers", error, [&](lbb_error* to) {
    return plugin.slots.execute_to_buffers(loaded_->handle, inputs_.data(), inputs_.size(), outputs_.data(),
                                           outputs_.size(), given_.get(), to);
  });
  if (!status.ok() && error.is_spoiled) lease_.spoil();
  return status;
}

Status check_count(std::string_view what, std::size_t has, std::size_t given) {
  if (has == given) return {};
  return Status(StatusCode::kCountMismatch, fmt::format("the model has {} {}, but {} were given", has, what, given));
}

}  // namespace

Status PluginExecutable::execute_to_buffers(std::span<const PlacedTensor> inputs, std::span<const PlacedTensor> outputs,
                                            const core::RunOptions& options) {
  const Plugin& plugin = model_->state->plugin();
  if (plugin.slots.execute_to_buffers == nullptr)
    return Status(StatusCode::kUnsupported, fmt::format("{} has no memory of its own for tensors", plugin.name));
  LB_RETURN_IF_ERROR(check_count("inputs", model_->inputs.size(), inputs.size()));
  LB_RETURN_IF_ERROR(check_count("outputs", model_->outputs.size(), outputs.size()));
  const core::ForegroundWork work;
  if (!work.may_begin()) return core::ending_error();
  LB_RETURN_IF_ERROR(core::check_not_hung(active_.id(), "run"));
  if (options.is_bounded()) LB_RETURN_IF_ERROR(core::check_time(options));
  LB_ASSIGN_OR_RETURN(auto lease, pool().checkout(options));
  const auto run = std::make_shared<BufferRun>(model_, std::move(lease));
  LB_RETURN_IF_ERROR(run->place(inputs, outputs, options, options.is_bounded()));
  if (!options.is_bounded()) return run->compute();
  if (options.run_timeout) run->lease().calling(*options.run_timeout);
  return core::call_until(
      options, active_.id(), [run] { return run->compute(); }, [run] { run->give_up(); });
}

}  // namespace latebind::plugin
