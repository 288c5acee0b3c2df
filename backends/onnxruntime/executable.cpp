#include "backends/onnxruntime/executable.h"

#include <fmt/format.h>

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

Status deadline_passed() {
  return Status(StatusCode::kDeadlineExceeded, "the run was stopped: its deadline has passed");
}

// What the vendor means by a failed run. Its numbers hardly tell one cause from another; that the inputs' values are
// wrong (an index beyond the table …) is the one that is the caller's.
StatusCode code_of_run(abi::ErrorCode code) {
  return code == abi::kInvalidArgument ? StatusCode::kInvalidArgument : StatusCode::kDeviceFailed;
}

}  // namespace

// The vendor's objects of one run.
struct OnnxruntimeExecutable::Values {
  explicit Values(const abi::Api& table) : api(table) {}
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  ~Values() {
    for (abi::Value* value : inputs)
      if (value != nullptr) api.ReleaseValue(value);
    for (abi::Value* value : outputs)
      if (value != nullptr) api.ReleaseValue(value);
  }

  const abi::Api& api;
  std::vector<abi::Value*> inputs;
  std::vector<abi::Value*> outputs;  // null: to be allocated by the vendor
  std::vector<bool> in_place;        // for each output: it is written where it belongs
  std::vector<std::unique_ptr<std::byte[]>> packed;
};

OnnxruntimeExecutable::OnnxruntimeExecutable(Session session, core::ActiveConfig active)
    : session_(std::move(session)), active_(std::move(active)), pool_(active_.requests, [this]() -> Result<Request> {
        const abi::Api& api = session_.environment->api();
        abi::RunOptions* options = nullptr;
        LB_ORT_RETURN_IF_ERROR(session_.environment->library(), api.CreateRunOptions(&options),
                               "ONNX Runtime does not make a request");
        return Request(options, api.ReleaseRunOptions);
      }) {
  for (const TensorInfo& info : session_.inputs)
    input_names_.push_back(info.name.c_str());
  for (const TensorInfo& info : session_.outputs)
    output_names_.push_back(info.name.c_str());
}

Result<std::unique_ptr<core::Executable>> OnnxruntimeExecutable::create(Session session, core::ActiveConfig active) {
  std::unique_ptr<OnnxruntimeExecutable> result(new OnnxruntimeExecutable(std::move(session), std::move(active)));
  LB_RETURN_IF_ERROR(result->pool_.warm());
  return std::unique_ptr<core::Executable>(std::move(result));
}

Result<Owned<abi::Value>> OnnxruntimeExecutable::wrap(const TensorInfo& info, void* data, const Shape& shape) const {
  const abi::Api& api = session_.environment->api();
  LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(info.type, shape));
  // Something to point at where there is no element.
  static std::int64_t nothing = 0;
  if (data == nullptr && bytes == 0) data = &nothing;
  abi::Value* value = nullptr;
  const auto dims = shape.dims();
  LB_ORT_RETURN_IF_ERROR(
      session_.environment->library(),
      api.CreateTensorWithDataAsOrtValue(session_.environment->cpu_memory(), data, bytes, dims.data(), dims.size(),
                                         vendor_type(info.type), &value),
      fmt::format("ONNX Runtime does not take the tensor '{}' of shape {}", info.name, shape.to_string()));
  return Owned<abi::Value>(value, api.ReleaseValue);
}

Status OnnxruntimeExecutable::bind_inputs(std::span<const TensorView> inputs, Values& values) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    void* data = inputs[i].data;
    if (!inputs[i].is_contiguous() || !core::is_aligned(data, inputs[i].type)) {
      LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(inputs[i].type, inputs[i].shape));
      values.packed.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
      data = values.packed.back().get();
      if (auto status = inputs[i].copy_to_contiguous(data); !status.ok()) {
        return status.with_context(fmt::format("input '{}'", session_.inputs[i].name));
      }
    }
    LB_ASSIGN_OR_RETURN(auto value, wrap(session_.inputs[i], data, inputs[i].shape));
    values.inputs.push_back(value.release());
  }
  return {};
}

Status OnnxruntimeExecutable::bind_outputs(std::span<OutputTensor> outputs, Values& values) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo& info = session_.outputs[i];
    // A declared rank of 0 may also mean that the rank is not known.
    values.in_place.push_back(info.shape.rank() > 0 && info.shape.is_static());
    values.outputs.push_back(nullptr);
    if (!values.in_place.back()) continue;
    auto data = outputs[i].prepare(info.type, info.shape);
    if (!data.ok()) return data.status().with_context(fmt::format("output '{}'", info.name));
    if (!core::is_aligned(*data, info.type)) {
      values.in_place.back() = false;
      continue;
    }
    LB_ASSIGN_OR_RETURN(auto value, wrap(info, *data, info.shape));
    values.outputs.back() = value.release();
  }
  return {};
}

Status OnnxruntimeExecutable::run(const abi::RunOptions* run_options, Values& values) const {
  const Library& library = session_.environment->library();
  abi::Status* failure =
      library.api.Run(session_.handle.get(), run_options, input_names_.data(), values.inputs.data(),
                      values.inputs.size(), output_names_.data(), output_names_.size(), values.outputs.data());
  if (failure == nullptr) return {};
  return library.error_by_kind(code_of_run(library.api.GetErrorCode(failure)), "ONNX Runtime failed to run the model",
                               failure);
}

Status OnnxruntimeExecutable::collect_outputs(std::span<OutputTensor> outputs, Values& values) const {
  const Library& library = session_.environment->library();
  const abi::Api& api = library.api;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (values.in_place[i]) continue;
    const TensorInfo& info = session_.outputs[i];
    const std::string unreadable = fmt::format("ONNX Runtime does not hand out the output '{}'", info.name);
    abi::Value* const value = values.outputs[i];
    int is_tensor = 0;
    if (value != nullptr) LB_ORT_RETURN_IF_ERROR(library, api.IsTensor(value, &is_tensor), unreadable);
    if (is_tensor == 0) {
      return Status(StatusCode::kDeviceFailed,
                    fmt::format("ONNX Runtime gave no tensor for the output '{}'", info.name));
    }
    abi::TensorTypeAndShapeInfo* raw = nullptr;
    LB_ORT_RETURN_IF_ERROR(library, api.GetTensorTypeAndShape(value, &raw), unreadable);
    const Owned<abi::TensorTypeAndShapeInfo> tensor(raw, api.ReleaseTensorTypeAndShapeInfo);
    auto vendor = abi::kUndefined;
    std::size_t rank = 0;
    std::array<std::int64_t, core::kRankMax> dims{};
    LB_ORT_RETURN_IF_ERROR(library, api.GetTensorElementType(raw, &vendor), unreadable);
    LB_ORT_RETURN_IF_ERROR(library, api.GetDimensionsCount(raw, &rank), unreadable);
    if (element_type(vendor) != info.type || rank > core::kRankMax) {
      return Status(
          StatusCode::kDeviceFailed,
          fmt::format("ONNX Runtime gave the output '{}' as {} with {} dimensions, declared is {} {}", info.name,
                      vendor_type_name(vendor), rank, core::name_of(info.type), info.shape.to_string()));
    }
    LB_ORT_RETURN_IF_ERROR(library, api.GetDimensions(raw, dims.data(), rank), unreadable);
    LB_ASSIGN_OR_RETURN(const Shape shape, Shape::make({dims.data(), rank}));
    LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(info.type, shape));
    auto to = outputs[i].prepare(info.type, shape);
    if (!to.ok()) return to.status().with_context(fmt::format("output '{}'", info.name));
    void* from = nullptr;
    LB_ORT_RETURN_IF_ERROR(library, api.GetTensorMutableData(value, &from), unreadable);
    if (bytes > 0) std::memcpy(*to, from, bytes);
  }
  return {};
}

Status OnnxruntimeExecutable::execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                                      const core::RunOptions& options) {
  LB_RETURN_IF_ERROR(core::check_inputs(session_.inputs, inputs));
  if (outputs.size() != session_.outputs.size()) {
    return Status(StatusCode::kCountMismatch, fmt::format("the model has {} outputs, {} are given room for",
                                                          session_.outputs.size(), outputs.size()));
  }
  if (options.deadline && *options.deadline <= Watchdog::Clock::now()) return deadline_passed();
  LB_ASSIGN_OR_RETURN(auto request, pool_.checkout(options.deadline));

  Values values(session_.environment->api());
  LB_RETURN_IF_ERROR(bind_inputs(inputs, values));
  LB_RETURN_IF_ERROR(bind_outputs(outputs, values));
  Status status;
  if (options.deadline) {
    const auto stop = [&api = session_.environment->api(), run_options = request->get()] {
      if (auto* failure = api.RunOptionsSetTerminate(run_options)) api.ReleaseStatus(failure);
    };
    LB_ASSIGN_OR_RETURN(auto guard, session_.environment->watchdog().arm(*options.deadline, stop));
    status = run(request->get(), values);
    if (guard.disarm()) {
      // These options would stop the next run, too.
      request.mark_broken();
      if (!status.ok()) return deadline_passed();
    }
  } else {
    status = run(request->get(), values);
  }
  LB_RETURN_IF_ERROR(status);
  return collect_outputs(outputs, values);
}

}  // namespace latebind::onnxruntime
