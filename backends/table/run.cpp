// The slots that run a model: execute(), and the same in memory that stands for a device's.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>
#include <span>

#include "backends/table/objects.h"
#include "core/threads/cancellation.h"

namespace latebind::table {
namespace {

using core::OutputTensor;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorView;

constexpr std::size_t kAlignment = 64;

// Gives a run the host's memory for an output.
class HostOutput final : public core::OutputMemory {
 public:
  HostOutput(const lbb_host* host, lbb_output* output) : host_(host), output_(output) {}

  // A backend may prepare an output again in the same shape; the contract allows it once.
  Result<void*> memory_for(core::ElementType type, const Shape& shape) override {
    if (memory_ == nullptr) {
      memory_ = host_->prepare_output(output_, static_cast<std::int32_t>(type), shape.dims().data(), shape.rank());
      type_ = type;
      shape_ = shape;
    }
    if (memory_ == nullptr) {
      return Status(StatusCode::kBufferTooSmall, fmt::format("the host has no memory for an output of {} {}",
                                                             core::name_of(type), shape.to_string()));
    }
    if (type == type_ && shape == shape_) return memory_;
    return Status(StatusCode::kInternal,
                  fmt::format("an output is prepared as {} and as {}", shape_.to_string(), shape.to_string()));
  }

 private:
  const lbb_host* host_;
  lbb_output* output_;
  void* memory_ = nullptr;
  core::ElementType type_{};
  Shape shape_;
};

bool asks_to_cancel(const void* context) {
  const auto* const run = static_cast<const lbb_run*>(context);
  return run->is_cancelled(run) != 0;
}

core::RunOptions options_of(const lbb_run* run) {
  const lbb_run given = plugin::read_struct(*run);
  core::RunOptions options;
  if (given.deadline_ns != 0) {
    options.deadline = std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::nanoseconds(given.deadline_ns)));
  }
  if (given.is_cancelled != nullptr) options.nobody_waits = core::Cancellation::polled(asks_to_cancel, run);
  if (given.side_by_side > 1) options.side_by_side = given.side_by_side;
  return options;
}

// Returns the tensor, whose data is at `data` if it is in no buffer. The bytes of a view are not constant; inputs are
// only read.
Result<TensorView> view_of(const lbb_tensor* given) {
  if (given == nullptr || !plugin::has_size(*given))
    return Status(StatusCode::kInvalidArgument, "a tensor is null, or has no size");
  const lbb_tensor tensor = plugin::read_struct(*given);
  TensorView view;
  view.data = const_cast<void*>(tensor.data);
  LB_ASSIGN_OR_RETURN(view.type, plugin::type_of("a tensor", tensor.type));
  LB_ASSIGN_OR_RETURN(view.shape, plugin::shape_of("a tensor", tensor.dims, tensor.rank));
  if (tensor.buffer == nullptr) return view;
  LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(view.type, view.shape));
  const lbb_buffer& buffer = *tensor.buffer;
  if (tensor.offset > buffer.size || bytes > buffer.size - tensor.offset ||
      tensor.offset % core::size_of(view.type) != 0)
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a tensor of {} bytes cannot be at offset {} of a buffer of {} bytes", bytes,
                              tensor.offset, buffer.size));
  view.data = static_cast<std::byte*>(buffer.bytes.get()) + tensor.offset;
  return view;
}

Result<std::vector<TensorView>> views_of(const lbb_tensor* const* list, std::size_t count) {
  std::vector<TensorView> views;
  views.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    LB_ASSIGN_OR_RETURN(TensorView view, view_of(list[i]));
    views.push_back(std::move(view));
  }
  return views;
}

// Runs the model, and tells the host when the run has left it unusable.
Status run_model(lbb_executable& executable, std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                 const lbb_run* run, lbb_error* error) {
  const std::size_t spoiled_before = executable.executable->spoiled_by();
  Status status = executable.executable->execute(inputs, outputs, options_of(run));
  if (!status.ok() && executable.executable->spoiled_by() > spoiled_before) executable.host->spoil(error);
  return status;
}

}  // namespace

lbb_code execute(lbb_executable* executable, const lbb_tensor* const* inputs, std::size_t input_count,
                 lbb_output* const* outputs, std::size_t output_count, const lbb_run* run, lbb_error* error) noexcept {
  return guarded(*executable->host, error, [&]() -> Status {
    LB_ASSIGN_OR_RETURN(const std::vector<TensorView> views, views_of(inputs, input_count));
    std::vector<HostOutput> memory;
    memory.reserve(output_count);
    std::vector<OutputTensor> tensors;
    tensors.reserve(output_count);
    for (std::size_t i = 0; i < output_count; ++i)
      tensors.push_back(OutputTensor::in(memory.emplace_back(executable->host, outputs[i])));
    return run_model(*executable, views, tensors, run, error);
  });
}

lbb_code create_buffer(lbb_backend* backend, const char* /*device*/, std::uint64_t size, lbb_buffer** buffer,
                       lbb_error* error) noexcept {
  return guarded(*backend->host, error, [&]() -> Status {
    auto made = std::make_unique<lbb_buffer>();
    made->size = static_cast<std::size_t>(size);
    made->bytes.reset(::operator new(made->size, std::align_val_t(kAlignment), std::nothrow));
    if (made->bytes == nullptr)
      return Status(StatusCode::kOutOfMemory, fmt::format("not enough memory for a buffer of {} bytes", size));
    *buffer = made.release();
    return {};
  });
}

void destroy_buffer(lbb_buffer* buffer) noexcept {
  delete buffer;
}

lbb_code write_buffer(lbb_buffer* buffer, std::uint64_t offset, const void* data, std::uint64_t size,
                      lbb_error* /*error*/) noexcept {
  if (size > 0)
    std::memcpy(static_cast<std::byte*>(buffer->bytes.get()) + offset, data, static_cast<std::size_t>(size));
  return LBB_OK;
}

lbb_code read_buffer(lbb_buffer* buffer, std::uint64_t offset, void* data, std::uint64_t size,
                     lbb_error* /*error*/) noexcept {
  if (size > 0)
    std::memcpy(data, static_cast<const std::byte*>(buffer->bytes.get()) + offset, static_cast<std::size_t>(size));
  return LBB_OK;
}

lbb_code execute_to_buffers(lbb_executable* executable, const lbb_tensor* const* inputs, std::size_t input_count,
                            const lbb_tensor* const* outputs, std::size_t output_count, const lbb_run* run,
                            lbb_error* error) noexcept {
  return guarded(*executable->host, error, [&]() -> Status {
    LB_ASSIGN_OR_RETURN(const std::vector<TensorView> views, views_of(inputs, input_count));
    LB_ASSIGN_OR_RETURN(const std::vector<TensorView> wanted, views_of(outputs, output_count));
    std::vector<OutputTensor> tensors;
    tensors.reserve(output_count);
    for (const TensorView& view : wanted) {
      LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(view.type, view.shape));
      tensors.push_back(OutputTensor::bound(view.data, bytes));
    }
    LB_RETURN_IF_ERROR(run_model(*executable, views, tensors, run, error));
    for (std::size_t i = 0; i < output_count; ++i) {
      const TensorView& given = tensors[i].view();
      if (given.type == wanted[i].type && given.shape == wanted[i].shape) continue;
      return Status(StatusCode::kShapeMismatch,
                    fmt::format("output {} was expected as {} {}, and is {} {}", i, core::name_of(wanted[i].type),
                                wanted[i].shape.to_string(), core::name_of(given.type), given.shape.to_string()));
    }
    return {};
  });
}

}  // namespace latebind::table

void lbb_buffer::Free::operator()(void* p) const noexcept {
  ::operator delete(p, std::align_val_t(latebind::table::kAlignment));
}
