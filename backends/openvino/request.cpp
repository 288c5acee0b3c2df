#include "backends/openvino/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "backends/openvino/properties.h"

namespace latebind::openvino {
namespace {

using core::OutputTensor;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;
using core::TensorView;

// How long a cancelled run may take to stop. Devices look between two operations, so that is one operation's time.
constexpr std::int64_t kCancelMs = 200;
// A wait is cut into slices: OpenVINO for Windows under Wine comes back from one at its end only, whatever happens.
constexpr std::int64_t kFirstSliceMs = 4;
constexpr std::int64_t kLongestSliceMs = 256;

// What an empty tensor points to: the vendor refuses a null pointer.
alignas(64) std::array<std::byte, 64> g_nothing{};

std::array<std::int64_t, core::kRankMax> dims_of(const Shape& shape) {
  std::array<std::int64_t, core::kRankMax> dims{};
  std::ranges::copy(shape.dims(), dims.begin());
  return dims;
}

}  // namespace

Result<Request> Request::create(const Compiled& compiled) {
  const Library& library = compiled.library();
  abi::InferRequest* made = nullptr;
  if (const auto code = library.api.ov_compiled_model_create_infer_request(compiled.handle.get(), &made);
      code != abi::kOk) {
    return library.error(StatusCode::kDeviceFailed, fmt::format("openvino:{} makes no request", compiled.device), code);
  }
  Request request(compiled);
  request.handle_ = InferRequestHandle(library.api, made);
  request.inputs_.resize(compiled.inputs.size());
  request.outputs_.resize(compiled.outputs.size());
  return request;
}

Status Request::failed(abi::Code code) const {
  return compiled_->library().error(StatusCode::kDeviceFailed,
                                    fmt::format("openvino:{} failed to run the model", compiled_->device), code);
}

Status Request::set(Slot& slot, const TensorInfo& info, void* data, const Shape& shape, std::size_t index,
                    SetTensor set_tensor) {
  const Library& library = compiled_->library();
  if (data == nullptr) data = g_nothing.data();
  // The same memory in the same shape is set already. Only on the CPU: elsewhere the vendor may have mapped what was at
  // this address into the device, and that memory may have been freed and given out again since.
  if (slot.tensor && slot.data == data && slot.shape == shape && compiled_->device == "CPU") return {};
  auto dims = dims_of(shape);
  abi::Tensor* made = nullptr;
  if (const auto code = library.api.ov_tensor_create_from_host_ptr(
          library.element_types.code_of(info.type), abi::Shape{static_cast<std::int64_t>(shape.rank()), dims.data()},
          data, &made);
      code != abi::kOk) {
    return library.error(StatusCode::kDeviceFailed,
                         fmt::format("OpenVINO does not take memory for '{}' {}", info.name, shape.to_string()), code);
  }
  TensorHandle tensor(library.api, made);
  if (const auto code = set_tensor(handle_.get(), index, made); code != abi::kOk) {
    return library.error(
        StatusCode::kDeviceFailed,
        fmt::format("openvino:{} does not take the tensor '{}' {}", compiled_->device, info.name, shape.to_string()),
        code);
  }
  slot.tensor = std::move(tensor);
  slot.data = data;
  slot.shape = shape;
  return {};
}

Status Request::bind(std::span<const TensorView> inputs, std::span<OutputTensor> outputs, bool in_own_memory) {
  const abi::Api& api = compiled_->library().api;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& view = inputs[i];
    const TensorInfo& info = compiled_->inputs[i];
    void* data = view.data;
    if (in_own_memory || !view.is_contiguous() || !core::is_aligned(data, view.type)) {
      LB_ASSIGN_OR_RETURN(data, inputs_[i].own.prepare(view.type, view.shape));
      LB_RETURN_IF_ERROR(view.copy_to_contiguous(data));
    }
    LB_RETURN_IF_ERROR(set(inputs_[i], info, data, view.shape, i, api.ov_infer_request_set_input_tensor_by_index));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo& info = compiled_->outputs[i];
    Slot& slot = outputs_[i];
    if (!compiled_->direct[i]) {
      slot.copied = true;
      continue;
    }
    auto prepared = outputs[i].prepare(info.type, info.shape);
    if (!prepared.ok()) return prepared.status().with_context(fmt::format("output '{}'", info.name));
    void* data = *prepared;
    slot.copied = in_own_memory || !core::is_aligned(data, info.type);
    if (slot.copied) {
      LB_ASSIGN_OR_RETURN(data, slot.own.prepare(info.type, info.shape));
    }
    LB_RETURN_IF_ERROR(set(slot, info, data, info.shape, i, api.ov_infer_request_set_output_tensor_by_index));
  }
  return {};
}

Status Request::run() {
  const auto code = compiled_->library().api.ov_infer_request_infer(handle_.get());
  return code == abi::kOk ? Status() : failed(code);
}

Request::Run Request::run_until(std::chrono::steady_clock::time_point deadline) {
  using std::chrono::steady_clock;
  const abi::Api& api = compiled_->library().api;
  if (const auto code = api.ov_infer_request_start_async(handle_.get()); code != abi::kOk) {
    return {Outcome::kDone, failed(code)};
  }
  std::int64_t slice_ms = kFirstSliceMs;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    const auto code = api.ov_infer_request_wait_for(handle_.get(), std::clamp<std::int64_t>(left, 0, slice_ms));
    if (code == abi::kOk) return {};
    if (code != abi::kResultNotReady) return {Outcome::kDone, failed(code)};
    if (left <= 0) break;
    slice_ms = std::min(2 * slice_ms, kLongestSliceMs);
  }
  // The CPU plugin is left to end by itself where shapes are dynamic: a run that was stopped in the middle leaves
  // shapes behind there that the next run trips over.
  if (device_base(compiled_->device) == "CPU" && has_dynamic_input()) {
    return {Outcome::kHangs, Status(StatusCode::kDeadlineExceeded,
                                    fmt::format("openvino:{} did not finish before the deadline", compiled_->device))};
  }
  (void)api.ov_infer_request_cancel(handle_.get());
  const auto code = api.ov_infer_request_wait_for(handle_.get(), kCancelMs);
  if (code == abi::kOk) return {};  // it came back at the last moment
  Status late(StatusCode::kDeadlineExceeded,
              fmt::format("openvino:{} did not finish before the deadline{}", compiled_->device,
                          code == abi::kResultNotReady ? " and does not stop" : ""));
  return {code == abi::kResultNotReady ? Outcome::kHangs : Outcome::kDone, std::move(late)};
}

bool Request::has_dynamic_input() const {
  return std::ranges::any_of(compiled_->inputs, [](const TensorInfo& info) { return !info.shape.is_static(); });
}

bool Request::is_idle() const {
  return compiled_->library().api.ov_infer_request_wait_for(handle_.get(), 0) != abi::kResultNotReady;
}

Status Request::collect(std::span<OutputTensor> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    LB_RETURN_IF_ERROR(outputs_[i].copied ? collect_copy(i, outputs[i]) : collect_direct(i, outputs[i]));
  }
  return {};
}

// The result is in the caller's memory already. That it has the shape that was declared is the vendor's word, and is
// checked: a tensor over memory of ours may be given another shape by the run.
Status Request::collect_direct(std::size_t index, OutputTensor& output) {
  const Library& library = compiled_->library();
  // The vendor does not tell the shape of a scalar.
  if (output.view().shape.rank() == 0) return {};
  abi::Shape given{};
  if (const auto code = library.api.ov_tensor_get_shape(outputs_[index].tensor.get(), &given); code != abi::kOk) {
    return failed(code);
  }
  const auto dims = output.view().shape.dims();
  const bool same =
      given.rank == static_cast<std::int64_t>(dims.size()) && std::equal(dims.begin(), dims.end(), given.dims);
  (void)library.api.ov_shape_free(&given);
  if (!same) {
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("openvino:{} gave output '{}' another shape than the {} it declares", compiled_->device,
                              compiled_->outputs[index].name, compiled_->outputs[index].shape.to_string()));
  }
  return {};
}

Status Request::collect_copy(std::size_t index, OutputTensor& output) {
  const Library& library = compiled_->library();
  const abi::Api& api = library.api;
  const TensorInfo& info = compiled_->outputs[index];
  abi::Tensor* made = nullptr;
  if (const auto code = api.ov_infer_request_get_output_tensor_by_index(handle_.get(), index, &made);
      code != abi::kOk) {
    return failed(code);
  }
  const TensorHandle tensor(api, made);
  // The vendor does not tell the shape of a scalar; its size in bytes is checked below.
  Result<Shape> shape = Shape();
  if (info.shape.rank() != 0) {
    abi::Shape given{};
    if (const auto code = api.ov_tensor_get_shape(made, &given); code != abi::kOk) return failed(code);
    shape = Shape::make({given.dims, given.rank > 0 ? static_cast<std::size_t>(given.rank) : 0});
    (void)api.ov_shape_free(&given);
    if (!shape.ok()) {
      // Not the caller's shape: what the vendor says makes no sense.
      return Status(StatusCode::kDeviceFailed, fmt::format("openvino:{} gave output '{}' a shape that can not be: {}",
                                                           compiled_->device, info.name, shape.status().message()));
    }
  }

  std::size_t bytes = 0;
  void* data = nullptr;
  abi::ElementCode type = 0;
  auto code = api.ov_tensor_get_byte_size(made, &bytes);
  if (code == abi::kOk) code = api.ov_tensor_get_element_type(made, &type);
  if (code == abi::kOk && bytes > 0) code = api.ov_tensor_data(made, &data);
  if (code != abi::kOk) return failed(code);

  const auto expected = core::byte_size_of(info.type, *shape);
  if (!info.shape.accepts(*shape) || library.element_types.type_of(type) != info.type || !expected.ok() ||
      *expected != bytes) {
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("openvino:{} gave output '{}' as {} {} with {} bytes, declared is {} {}",
                              compiled_->device, info.name, library.element_types.name_of(type), shape->to_string(),
                              bytes, core::name_of(info.type), info.shape.to_string()));
  }
  auto prepared = output.prepare(info.type, *shape);
  if (!prepared.ok()) return prepared.status().with_context(fmt::format("output '{}'", info.name));
  void* const target = *prepared;
  if (bytes > 0) std::memcpy(target, data, bytes);
  return {};
}

}  // namespace latebind::openvino
