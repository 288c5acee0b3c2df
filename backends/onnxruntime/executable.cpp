#include "backends/onnxruntime/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "backends/onnxruntime/element_types.h"

namespace latebind::onnxruntime {
namespace {

using core::OutputTensor;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;
using core::TensorView;

// Maps the vendor's code of a failed run. The codes hardly distinguish causes, but kInvalidArgument means wrong values
// in the inputs, such as an index beyond a table, and is the caller's error.
StatusCode code_of_run(abi::ErrorCode code) {
  return code == abi::kInvalidArgument ? StatusCode::kInvalidArgument : StatusCode::kDeviceFailed;
}

}  // namespace

OnnxruntimeRun::OnnxruntimeRun(std::shared_ptr<const Loaded> loaded, Lease lease)
    : loaded_(std::move(loaded)), library_(loaded_->session.environment->library()), lease_(std::move(lease)) {}

OnnxruntimeRun::~OnnxruntimeRun() {
  for (abi::Value* value : inputs_)
    if (value != nullptr) library_.api.ReleaseValue(value);
  for (const Output& output : outputs_)
    if (output.value != nullptr) library_.api.ReleaseValue(output.value);
  // The options would stop the next run as well.
  if (stopped_) lease_.mark_broken();
}

void OnnxruntimeRun::give_up() {
  stopped_.store(true, std::memory_order_release);
  if (auto* failure = library_.api.RunOptionsSetTerminate(lease_->get())) library_.api.ReleaseStatus(failure);
}

Result<abi::Value*> OnnxruntimeRun::wrap(const TensorInfo& info, void* data, const Shape& shape) const {
  LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(info.type, shape));
  // A valid pointer for tensors without elements.
  static std::int64_t nothing = 0;
  if (data == nullptr && bytes == 0) data = &nothing;
  abi::Value* value = nullptr;
  const auto dims = shape.dims();
  LB_ORT_RETURN_IF_ERROR(
      library_,
      library_.api.CreateTensorWithDataAsOrtValue(loaded_->session.environment->cpu_memory(), data, bytes, dims.data(),
                                                  dims.size(), vendor_type(info.type), &value),
      fmt::format("ONNX Runtime refuses the tensor '{}' of shape {}", info.name, shape.to_string()));
  return value;
}

Status OnnxruntimeRun::place(std::span<const TensorView> inputs, std::span<OutputTensor> outputs, bool in_own_memory) {
  const Session& session = loaded_->session;
  inputs_.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    void* data = inputs[i].data;
    if (in_own_memory || !inputs[i].is_contiguous() || !core::is_aligned(data, inputs[i].type)) {
      LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(inputs[i].type, inputs[i].shape));
      packed_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
      data = packed_.back().get();
      if (auto status = inputs[i].copy_to_contiguous(data); !status.ok()) {
        return status.with_context(fmt::format("input '{}'", session.inputs[i].name));
      }
    }
    LB_ASSIGN_OR_RETURN(abi::Value* const value, wrap(session.inputs[i], data, inputs[i].shape));
    inputs_.push_back(value);
  }
  outputs_.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo& info = session.outputs[i];
    Output& output = outputs_[i];
    // A declared rank of 0 may also mean an unknown rank. An output that is also an input is returned unchanged,
    // without a write to memory that was prepared for it.
    if (info.shape.rank() == 0 || !info.shape.is_static() || loaded_->is_input[i]) continue;
    auto data = outputs[i].prepare(info.type, info.shape);
    if (!data.ok()) return data.status().with_context(fmt::format("output '{}'", info.name));
    output.in_place = !in_own_memory && core::is_aligned(*data, info.type);
    if (!output.in_place) {
      LB_ASSIGN_OR_RETURN(*data, output.own.prepare(info.type, info.shape));
    }
    LB_ASSIGN_OR_RETURN(output.value, wrap(info, *data, info.shape));
  }
  return {};
}

Status OnnxruntimeRun::compute() {
  std::vector<abi::Value*> values;
  values.reserve(outputs_.size());
  for (const Output& output : outputs_)
    values.push_back(output.value);
  const auto is_stopped = [this] { return stopped_.load(std::memory_order_acquire); };
  if (is_stopped()) return {};  // the result is not used
  LB_ASSIGN_OR_RETURN(const auto turn, loaded_->session.turn(is_stopped));
  if (is_stopped()) return {};
  abi::Status* const failure =
      library_.api.Run(loaded_->session.handle.get(), lease_->get(), loaded_->input_names.data(), inputs_.data(),
                       inputs_.size(), loaded_->output_names.data(), loaded_->output_names.size(), values.data());
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    outputs_[i].value = values[i];
  if (failure != nullptr) {
    return library_.error_by_kind(code_of_run(library_.api.GetErrorCode(failure)),
                                  "ONNX Runtime failed to run the model", failure);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].in_place) LB_RETURN_IF_ERROR(read(loaded_->session.outputs[i], outputs_[i]));
  }
  return {};
}

Status OnnxruntimeRun::read(const TensorInfo& info, Output& output) const {
  const abi::Api& api = library_.api;
  const std::string unreadable = fmt::format("ONNX Runtime does not return the output '{}'", info.name);
  int is_tensor = 0;
  if (output.value != nullptr) LB_ORT_RETURN_IF_ERROR(library_, api.IsTensor(output.value, &is_tensor), unreadable);
  if (is_tensor == 0) {
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("ONNX Runtime returned no tensor for the output '{}'", info.name));
  }
  abi::TensorTypeAndShapeInfo* raw = nullptr;
  LB_ORT_RETURN_IF_ERROR(library_, api.GetTensorTypeAndShape(output.value, &raw), unreadable);
  const Owned<abi::TensorTypeAndShapeInfo> tensor(raw, api.ReleaseTensorTypeAndShapeInfo);
  auto vendor = abi::kUndefined;
  std::size_t rank = 0;
  std::array<std::int64_t, core::kRankMax> dims{};
  LB_ORT_RETURN_IF_ERROR(library_, api.GetTensorElementType(raw, &vendor), unreadable);
  LB_ORT_RETURN_IF_ERROR(library_, api.GetDimensionsCount(raw, &rank), unreadable);
  if (element_type(vendor) != info.type || rank > core::kRankMax) {
    return Status(
        StatusCode::kDeviceFailed,
        fmt::format("ONNX Runtime returned the output '{}' as {} with {} dimensions, but it is declared as {} {}",
                    info.name, vendor_type_name(vendor), rank, core::name_of(info.type), info.shape.to_string()));
  }
  LB_ORT_RETURN_IF_ERROR(library_, api.GetDimensions(raw, dims.data(), rank), unreadable);
  LB_ASSIGN_OR_RETURN(output.shape, Shape::make({dims.data(), rank}));
  LB_ASSIGN_OR_RETURN(output.bytes, core::byte_size_of(info.type, output.shape));
  void* from = nullptr;
  LB_ORT_RETURN_IF_ERROR(library_, api.GetTensorMutableData(output.value, &from), unreadable);
  output.result = from;
  return {};
}

Status OnnxruntimeRun::give(std::span<OutputTensor> outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.in_place) continue;
    const TensorInfo& info = loaded_->session.outputs[i];
    auto to = outputs[i].prepare(info.type, output.shape);
    if (!to.ok()) return to.status().with_context(fmt::format("output '{}'", info.name));
    if (output.bytes > 0) std::memcpy(*to, output.result, output.bytes);
  }
  return {};
}

OnnxruntimeRun::Loaded::Loaded(Session made) : session(std::move(made)) {
  for (const TensorInfo& info : session.inputs)
    input_names.push_back(info.name.c_str());
  for (const TensorInfo& info : session.outputs)
    output_names.push_back(info.name.c_str());
  for (const TensorInfo& info : session.outputs)
    is_input.push_back(std::ranges::find(session.inputs, info.name, &TensorInfo::name) != session.inputs.end());
}

OnnxruntimeExecutable::OnnxruntimeExecutable(const std::shared_ptr<const OnnxruntimeRun::Loaded>& loaded,
                                             core::ActiveConfig active)
    : PooledExecutable(loaded, fmt::format("{}:{}", active.backend, active.device), active.requests,
                       [environment = loaded->session.environment]() -> Result<OnnxruntimeRun::Request> {
                         const abi::Api& api = environment->api();
                         abi::RunOptions* options = nullptr;
                         LB_ORT_RETURN_IF_ERROR(environment->library(), api.CreateRunOptions(&options),
                                                "ONNX Runtime cannot create a request");
                         return OnnxruntimeRun::Request(options, api.ReleaseRunOptions);
                       }),
      active_(std::move(active)) {}

Result<std::unique_ptr<core::Executable>> OnnxruntimeExecutable::create(Session session, core::ActiveConfig active) {
  const auto loaded = std::make_shared<const OnnxruntimeRun::Loaded>(std::move(session));
  std::unique_ptr<OnnxruntimeExecutable> made(new OnnxruntimeExecutable(loaded, std::move(active)));
  LB_RETURN_IF_ERROR(made->warm());
  return std::unique_ptr<core::Executable>(std::move(made));
}

}  // namespace latebind::onnxruntime
