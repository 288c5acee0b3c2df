#include "backends/openvino/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "backends/openvino/properties.h"
#include "core/graph/token_packing.h"

namespace latebind::openvino {
namespace {

using core::OutputTensor;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;
using core::TensorView;

// The data of empty tensors: the vendor refuses a null pointer.
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
    return library.error(StatusCode::kDeviceFailed, fmt::format("openvino:{} cannot create a request", compiled.device),
                         code);
  }
  Request request(compiled);
  request.handle_ = InferRequestHandle(library.api, made);
  request.inputs_.resize(compiled.vendor_inputs.size());
  request.outputs_.resize(compiled.outputs.size());
  return request;
}

Status Request::failed(abi::Code code) const {
  return compiled_->library().error(StatusCode::kDeviceFailed,
                                    fmt::format("openvino:{} failed to run the model", compiled_->device), code);
}

Status Request::set(Slot& slot, const TensorInfo& info, std::size_t index, SetTensor set_tensor) {
  const Library& library = compiled_->library();
  const Shape& shape = slot.next_shape;
  void* const data = slot.next_data != nullptr ? slot.next_data : g_nothing.data();
  // The same memory with the same shape is set already. Only on the CPU: elsewhere the vendor may have mapped this
  // address into the device, and the memory may have been freed and allocated again since.
  if (slot.tensor && slot.data == data && slot.shape == shape && compiled_->device == "CPU") return {};
  auto dims = dims_of(shape);
  abi::Tensor* made = nullptr;
  if (const auto code = library.api.ov_tensor_create_from_host_ptr(
          library.element_types.code_of(info.type), abi::Shape{static_cast<std::int64_t>(shape.rank()), dims.data()},
          data, &made);
      code != abi::kOk) {
    return library.error(StatusCode::kDeviceFailed,
                         fmt::format("OpenVINO refuses the memory of '{}' {}", info.name, shape.to_string()), code);
  }
  TensorHandle tensor(library.api, made);
  if (const auto code = set_tensor(handle_.get(), index, made); code != abi::kOk) {
    return library.error(
        StatusCode::kDeviceFailed,
        fmt::format("openvino:{} refuses the tensor '{}' {}", compiled_->device, info.name, shape.to_string()), code);
  }
  slot.tensor = std::move(tensor);
  slot.data = data;
  slot.shape = shape;
  return {};
}

Status Request::place_input(Slot& slot, const TensorView& view, bool in_own_memory) {
  slot.next_data = view.data;
  slot.next_shape = view.shape;
  if (!in_own_memory && view.is_contiguous() && core::is_aligned(view.data, view.type)) return {};
  LB_ASSIGN_OR_RETURN(slot.next_data, slot.own.prepare(view.type, view.shape));
  return view.copy_to_contiguous(slot.next_data);
}

Status Request::place_packed(std::span<const TensorView> inputs, bool in_own_memory) {
  const Packing& packing = *compiled_->packing;
  given_texts_ = inputs[0].shape;
  const bool has_several = given_texts_[0] > 1;
  // At least one place, since packed tokens are taken from there.
  computed_texts_ = {has_several ? static_cast<std::int64_t>(rows_to_compute(static_cast<std::size_t>(given_texts_[0])))
                                 : std::int64_t{1},
                     std::max<std::int64_t>(1, given_texts_[1])};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Slot& slot = inputs_[packing.given[i]];
    if (computed_texts_ == given_texts_) {
      LB_RETURN_IF_ERROR(place_input(slot, inputs[i], in_own_memory));
      continue;
    }
    LB_ASSIGN_OR_RETURN(slot.next_data, slot.own.prepare(inputs[i].type, computed_texts_));
    slot.next_shape = computed_texts_;
    LB_ASSIGN_OR_RETURN(const std::size_t given, core::byte_size_of(inputs[i].type, given_texts_));
    LB_ASSIGN_OR_RETURN(const std::size_t all, core::byte_size_of(inputs[i].type, computed_texts_));
    LB_RETURN_IF_ERROR(inputs[i].copy_to_contiguous(slot.next_data));
    std::memset(static_cast<std::byte*>(slot.next_data) + given, 0, all - given);
  }
  const auto place_made = [&](std::size_t position, const Shape& shape) -> Result<std::span<std::int64_t>> {
    Slot& slot = inputs_[position];
    LB_ASSIGN_OR_RETURN(slot.next_data, slot.own.prepare(core::ElementType::kI64, shape));
    slot.next_shape = shape;
    LB_ASSIGN_OR_RETURN(const std::size_t count, shape.element_count());
    return std::span(static_cast<std::int64_t*>(slot.next_data), count);
  };
  LB_ASSIGN_OR_RETURN(const std::size_t slot_count, computed_texts_.element_count());
  const std::span mask(static_cast<const std::int64_t*>(inputs_[packing.mask].next_data), slot_count);
  const std::size_t tokens = std::max<std::size_t>(1, graph::count_tokens(mask));
  const auto computed = static_cast<std::int64_t>(has_several ? tokens_to_compute(tokens) : tokens);
  LB_ASSIGN_OR_RETURN(const auto places, place_made(packing.places, Shape{computed}));
  LB_ASSIGN_OR_RETURN(const auto slots, place_made(packing.slots, computed_texts_));
  graph::pack_tokens(mask, places, slots);
  return {};
}

Status Request::place(std::span<const TensorView> inputs, std::span<OutputTensor> outputs, bool in_own_memory) {
  if (compiled_->packing) {
    LB_RETURN_IF_ERROR(place_packed(inputs, in_own_memory));
  } else {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      LB_RETURN_IF_ERROR(place_input(inputs_[i], inputs[i], in_own_memory));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo& info = compiled_->outputs[i];
    Slot& slot = outputs_[i];
    slot.in_place = false;
    if (!compiled_->direct[i]) continue;
    auto prepared = outputs[i].prepare(info.type, info.shape);
    if (!prepared.ok()) return prepared.status().with_context(fmt::format("output '{}'", info.name));
    slot.next_data = *prepared;
    slot.next_shape = info.shape;
    slot.in_place = !in_own_memory && core::is_aligned(slot.next_data, info.type);
    if (!slot.in_place) {
      LB_ASSIGN_OR_RETURN(slot.next_data, slot.own.prepare(info.type, info.shape));
    }
  }
  return {};
}

Status Request::compute(const std::atomic<bool>& given_up) {
  const abi::Api& api = compiled_->library().api;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    LB_RETURN_IF_ERROR(set(inputs_[i], compiled_->vendor_inputs[i], i, api.ov_infer_request_set_input_tensor_by_index));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!compiled_->direct[i]) continue;
    LB_RETURN_IF_ERROR(set(outputs_[i], compiled_->outputs[i], i, api.ov_infer_request_set_output_tensor_by_index));
  }
  if (given_up.load(std::memory_order_acquire)) return {};  // the result is not used
  if (const auto code = infer(); code != abi::kOk) return failed(code);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    LB_RETURN_IF_ERROR(compiled_->direct[i] ? read_placed(i) : read_given(i));
  }
  return {};
}

abi::Code Request::infer() {
  const abi::Api& api = compiled_->library().api;
  const bool starts_runs = compiled_->shared_runs && compiled_->shared_runs->order() == RunOrder::kStarted;
  if (!compiled_->active.loses_errors && !starts_runs) return api.ov_infer_request_infer(handle_.get());
  // This costs 8 µs, and 60 µs on a virtual machine that wakes threads slowly. The wait is in steps because OpenVINO
  // for Windows does not wake from a long one under Wine 8; on Linux, the end of the run ends the step.
  constexpr std::int64_t kStepMs = 20;
  if (const auto code = api.ov_infer_request_start_async(handle_.get()); code != abi::kOk) return code;
  abi::Code code = abi::kResultNotReady;
  while (code == abi::kResultNotReady)
    code = api.ov_infer_request_wait_for(handle_.get(), kStepMs);
  return code;
}

bool Request::has_failed() const {
  const auto code = compiled_->library().api.ov_infer_request_wait_for(handle_.get(), 0);
  return code != abi::kOk && code != abi::kResultNotReady;
}

bool Request::cancel() {
  // With dynamic shapes, the CPU plugin is not interrupted: a run that is stopped in the middle leaves shapes that
  // break the next run.
  if (device_base(compiled_->device) == "CPU" &&
      std::ranges::any_of(compiled_->inputs, [](const TensorInfo& info) { return !info.shape.is_static(); })) {
    return false;
  }
  (void)compiled_->library().api.ov_infer_request_cancel(handle_.get());
  return true;
}

// Reads an output in the memory that was set. The vendor promises the declared shape, which is checked: a run may give
// another shape to a tensor over Latebind's memory.
Status Request::read_placed(std::size_t index) {
  const Library& library = compiled_->library();
  const TensorInfo& info = compiled_->outputs[index];
  Slot& slot = outputs_[index];
  slot.result = slot.data;
  slot.result_shape = info.shape;
  LB_ASSIGN_OR_RETURN(slot.result_bytes, core::byte_size_of(info.type, info.shape));
  // The vendor does not report the shape of a scalar.
  if (info.shape.rank() == 0) return {};
  abi::Shape given{};
  if (const auto code = library.api.ov_tensor_get_shape(slot.tensor.get(), &given); code != abi::kOk) {
    return failed(code);
  }
  const auto dims = info.shape.dims();
  const bool same =
      given.rank == static_cast<std::int64_t>(dims.size()) && std::equal(dims.begin(), dims.end(), given.dims);
  (void)library.api.ov_shape_free(&given);
  if (!same) {
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("openvino:{} returned output '{}' with another shape than the declared {}",
                              compiled_->device, info.name, info.shape.to_string()));
  }
  return {};
}

Status Request::read_given(std::size_t index) {
  const Library& library = compiled_->library();
  const abi::Api& api = library.api;
  const TensorInfo& info = compiled_->outputs[index];
  abi::Tensor* made = nullptr;
  if (const auto code = api.ov_infer_request_get_output_tensor_by_index(handle_.get(), index, &made);
      code != abi::kOk) {
    return failed(code);
  }
  TensorHandle tensor(api, made);
  // The vendor does not report the shape of a scalar; its size in bytes is checked below.
  Result<Shape> shape = Shape();
  if (info.shape.rank() != 0) {
    abi::Shape given{};
    if (const auto code = api.ov_tensor_get_shape(made, &given); code != abi::kOk) return failed(code);
    shape = Shape::make({given.dims, given.rank > 0 ? static_cast<std::size_t>(given.rank) : 0});
    (void)api.ov_shape_free(&given);
    if (!shape.ok()) {
      // Not a shape of the caller: the vendor's answer is invalid.
      return Status(StatusCode::kDeviceFailed,
                    fmt::format("openvino:{} returned output '{}' with an impossible shape: {}", compiled_->device,
                                info.name, shape.status().message()));
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
                  fmt::format("openvino:{} returned output '{}' as {} {} with {} bytes, but it is declared as {} {}",
                              compiled_->device, info.name, library.element_types.name_of(type), shape->to_string(),
                              bytes, core::name_of(info.type), info.shape.to_string()));
  }
  Slot& slot = outputs_[index];
  slot.given = std::move(tensor);
  slot.result = data;
  slot.result_shape = *shape;
  slot.result_bytes = bytes;
  return compiled_->packing ? cut(slot, info) : Status();
}

Status Request::cut(Slot& slot, const TensorInfo& info) const {
  Shape& shape = slot.result_shape;
  // A vector for each text or for each of its tokens. Additional rows and columns are at the end, and belong to no
  // text.
  if (shape.rank() < 2 || shape[0] != computed_texts_[0] || (shape.rank() > 2 && shape[1] != computed_texts_[1])) {
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("openvino:{} returned output '{}' with the shape {} for texts {}", compiled_->device,
                              info.name, shape.to_string(), computed_texts_.to_string()));
  }
  shape[0] = given_texts_[0];
  if (shape.rank() > 2) shape[1] = given_texts_[1];
  LB_ASSIGN_OR_RETURN(slot.result_bytes, core::byte_size_of(info.type, shape));
  return {};
}

Status Request::give(std::span<OutputTensor> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo& info = compiled_->outputs[i];
    Slot& slot = outputs_[i];
    if (slot.in_place) continue;
    auto prepared = outputs[i].prepare(info.type, slot.result_shape);
    if (!prepared.ok()) return prepared.status().with_context(fmt::format("output '{}'", info.name));
    if (slot.result_bytes > 0) std::memcpy(*prepared, slot.result, slot.result_bytes);
    slot.given.reset();
  }
  return {};
}

}  // namespace latebind::openvino
