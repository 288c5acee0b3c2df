// The fake OpenVINO library: the vendor's functions for tensors and requests, over fake_openvino_state.h.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "core/platform/detached_thread.h"
#include "tests/fakes/fake_openvino_entry.h"
#include "tests/fakes/fake_openvino_state.h"

using namespace latebind::fake;  // NOLINT: the whole file is inside it
using latebind::openvino::abi::Code;
using latebind::openvino::abi::CompiledModel;
using latebind::openvino::abi::ConstPort;
using latebind::openvino::abi::Core;
using latebind::openvino::abi::Devices;
using latebind::openvino::abi::ElementCode;
using latebind::openvino::abi::InferRequest;
using latebind::openvino::abi::Model;
using latebind::openvino::abi::PartialShape;
using latebind::openvino::abi::RunState;
using latebind::openvino::abi::Shape;
using latebind::openvino::abi::Tensor;
using latebind::openvino::abi::Version;
using BoundsOfDimension = latebind::openvino::abi::Dimension;

namespace {

constexpr Code kNotReady = latebind::openvino::abi::kResultNotReady;
constexpr Code kCancelled = latebind::openvino::abi::kInferCancelled;

// How one run goes wrong, as the script has it now.
struct Fate {
  bool hangs = false;
  bool obeys = false;  // a cancel ends the hang
  bool fails = false;
  bool slow = false;
  bool wrong_shape = false;
  bool wrong_rank = false;
  bool not_finite = false;
  bool wrong_numbers = false;

  static Fate of(const Script& script, const std::string& device, const Entry& entry) {
    Fate fate;
    const auto covers = [&](const Scope& scope) { return scope.covers(device, entry.call, entry.call_on_device); };
    for (const Hang& hang : script.hangs) {
      if (!covers(hang.scope)) continue;
      fate.hangs = true;
      fate.obeys = fate.obeys || hang.cancellable;
    }
    fate.wrong_shape = std::ranges::any_of(script.wrong_shape, covers);
    fate.wrong_rank = std::ranges::any_of(script.wrong_rank, covers);
    fate.not_finite = std::ranges::any_of(script.not_finite, covers);
    fate.wrong_numbers = std::ranges::any_of(script.wrong_numbers, covers);
    for (const Chance& chance : script.chances) {
      const std::string kind = chance.fault_of(device, entry.call_on_device);
      if (kind == "fail") fate.fails = true;
      if (kind == "slow") fate.slow = true;
      if (kind == "wrong-shape") fate.wrong_shape = true;
      if (kind == "hang-cancellable") fate.hangs = fate.obeys = true;
    }
    return fate;
  }
};

void lie_about_shape(const Fate& fate, TensorData& data) {
  if (fate.wrong_rank) data.dims.push_back(1);
  if (fate.wrong_shape && !data.dims.empty()) {
    ++data.dims.back();
    data.owned.resize(bytes_of(data.type, data.dims));
  }
}

void spoil_numbers(const Fate& fate, TensorData& data) {
  if (data.type != "f32" || data.owned.empty()) return;
  for (std::size_t at = 0; fate.wrong_numbers && at < data.owned.size(); at += 2 * sizeof(float)) {
    constexpr float kWrong = 3.0F;
    std::memcpy(data.owned.data() + at, &kWrong, sizeof kWrong);
  }
  if (!fate.not_finite) return;
  const float none = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(data.owned.data() + data.owned.size() - sizeof(none), &none, sizeof(none));
}

// The work of one run; the lock is not held.
Code work(RunState& run) {
  const Entry entry = enter_on("run", run.device);
  if (entry.code) return *entry.code;
  Fate fate;
  while (true) {
    const auto now = Script::current();
    if (!now->lists(run.device)) return fail(-1, "the device " + run.device + " is lost");
    fate = Fate::of(*now, run.device, entry);
    if (!fate.hangs) break;
    std::unique_lock lock(run.mutex);
    run.changed.wait_for(lock, std::chrono::milliseconds(2));
    if (fate.obeys && run.cancelled) return fail(kCancelled, "Infer Request was canceled");
  }
  if (fate.slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (fate.fails)
    return fail(-1, "a fault by chance: run " + std::to_string(entry.call_on_device) + " on " + run.device);
  for (const auto& input : run.inputs)
    if (!input) return fail(-1, "an input was not set");
  const auto script = Script::current();
  for (const auto& failure : script->shape_failures) {
    if (failure.compiling || !failure.scope.covers(run.device)) continue;
    if (run.inputs.empty() || run.inputs[0]->dims != failure.dims) continue;
    if (failure.spoils) {
      const std::lock_guard lock(run.spoiled->mutex);
      run.spoiled->failure.emplace(failure.code, failure.text);
    }
    return fail(failure.code, failure.text);
  }
  {
    const std::lock_guard lock(run.spoiled->mutex);
    if (const auto& failure = run.spoiled->failure) return fail(failure->first, failure->second);
  }
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    auto result = std::make_shared<TensorData>(compute(run.network, i, run.inputs, run.precision));
    spoil_numbers(fate, *result);
    lie_about_shape(fate, *result);
    // A tensor over the caller's memory takes the result if it is of the very same shape, as a static output is.
    auto& bound = run.outputs[i];
    if (bound && bound->owned.empty() && bound->data != nullptr) {
      const auto room = bytes_of(bound->type, bound->dims);
      std::memcpy(bound->data, result->owned.data(), std::min(room, result->owned.size()));
      bound->dims = result->dims;
    } else {
      result->data = result->owned.data();
      bound = result;
    }
  }
  return 0;
}

void finish(RunState& run, Code code) {
  const std::lock_guard lock(run.mutex);
  run.running = false;
  run.code = code;
  run.changed.notify_all();
}

bool begin(RunState& run) {
  const std::lock_guard lock(run.mutex);
  if (run.running) return false;
  run.running = true;
  run.cancelled = false;
  return true;
}

Dims dims_of(const Shape& shape) {
  return shape.rank > 0 ? Dims(shape.dims, shape.dims + shape.rank) : Dims();
}

}  // namespace

FAKE Code ov_shape_free(Shape* shape) {
  if (dies("shape", shape->dims)) delete[] shape->dims;
  *shape = {};
  return 0;
}

FAKE Code ov_tensor_create_from_host_ptr(ElementCode type, Shape shape, void* data, Tensor** out) {
  ENTER(ov_tensor_create_from_host_ptr);
  if (data == nullptr || out == nullptr) return latebind::openvino::abi::kInvalidParameter;
  const std::string name = type_of(type, Script::read().old_numbering);
  if (size_of(name) == 0) return fail(-1, "no tensor of type " + name);
  auto* tensor = make<Tensor>("tensor");
  tensor->data = std::make_shared<TensorData>();
  tensor->data->type = name;
  tensor->data->dims = dims_of(shape);
  tensor->data->data = static_cast<std::byte*>(data);
  *out = tensor;
  return 0;
}

FAKE void ov_tensor_free(Tensor* tensor) {
  drop("tensor", tensor);
}

FAKE Code ov_tensor_get_shape(const Tensor* tensor, Shape* shape) {
  ENTER(ov_tensor_get_shape);
  NEED("tensor", tensor);
  const Dims& dims = tensor->data->dims;
  if (dims.empty()) return latebind::openvino::abi::kInvalidParameter;  // as the real one does
  shape->rank = static_cast<std::int64_t>(dims.size());
  shape->dims = new std::int64_t[dims.size() + 1];
  born("shape", shape->dims);
  std::ranges::copy(dims, shape->dims);
  return 0;
}

FAKE Code ov_tensor_get_byte_size(const Tensor* tensor, std::size_t* size) {
  ENTER(ov_tensor_get_byte_size);
  NEED("tensor", tensor);
  *size = bytes_of(tensor->data->type, tensor->data->dims);
  return 0;
}

FAKE Code ov_tensor_get_element_type(const Tensor* tensor, ElementCode* type) {
  ENTER(ov_tensor_get_element_type);
  NEED("tensor", tensor);
  *type = code_of(tensor->data->type, Script::read().old_numbering);
  return 0;
}

FAKE Code ov_tensor_data(const Tensor* tensor, void** data) {
  ENTER(ov_tensor_data);
  NEED("tensor", tensor);
  *data = tensor->data->data;
  return 0;
}

FAKE void ov_infer_request_free(InferRequest* request) {
  if (request == nullptr || !is_alive("request", request)) return;
  {
    const std::lock_guard lock(request->run->mutex);
    if (request->run->running) defect("a request was freed while it ran: the real library would wait here");
  }
  if (is_alive("compiled model", request->compiled)) --request->compiled->requests;
  drop("request", request);
}

FAKE Code ov_infer_request_set_input_tensor_by_index(InferRequest* request, std::size_t index, const Tensor* tensor) {
  ENTER(ov_infer_request_set_input_tensor_by_index);
  NEED("request", request);
  NEED("tensor", tensor);
  request->run->inputs.at(index) = tensor->data;
  return 0;
}

FAKE Code ov_infer_request_set_output_tensor_by_index(InferRequest* request, std::size_t index, const Tensor* tensor) {
  ENTER(ov_infer_request_set_output_tensor_by_index);
  NEED("request", request);
  NEED("tensor", tensor);
  request->run->outputs.at(index) = tensor->data;
  return 0;
}

FAKE Code ov_infer_request_get_output_tensor_by_index(const InferRequest* request, std::size_t index, Tensor** out) {
  ENTER(ov_infer_request_get_output_tensor_by_index);
  NEED("request", request);
  *out = make<Tensor>("tensor");
  (*out)->data = request->run->outputs.at(index);
  return 0;
}

FAKE Code ov_infer_request_infer(InferRequest* request) {
  ENTER(ov_infer_request_infer);
  NEED("request", request);
  if (!begin(*request->run)) return fail(-8, "Infer Request is busy");
  const Code code = work(*request->run);
  finish(*request->run, code);
  return code;
}

FAKE Code ov_infer_request_start_async(InferRequest* request) {
  ENTER(ov_infer_request_start_async);
  NEED("request", request);
  if (!begin(*request->run)) return fail(-8, "Infer Request is busy");
  latebind::platform::run_detached([run = request->run] { finish(*run, work(*run)); });
  return 0;
}

FAKE Code ov_infer_request_wait_for(InferRequest* request, std::int64_t timeout_ms) {
  ENTER(ov_infer_request_wait_for);
  NEED("request", request);
  RunState& run = *request->run;
  std::unique_lock lock(run.mutex);
  if (!run.changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] { return !run.running; })) {
    return kNotReady;
  }
  return run.code;
}

FAKE Code ov_infer_request_cancel(InferRequest* request) {
  ENTER(ov_infer_request_cancel);
  NEED("request", request);
  const std::lock_guard lock(request->run->mutex);
  request->run->cancelled = true;
  request->run->changed.notify_all();
  return 0;
}
