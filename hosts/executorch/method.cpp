#include "hosts/executorch/method.h"

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "hosts/executorch/log.h"
#include "hosts/executorch/tensors.h"

namespace latebind::delegate {
namespace {

namespace et = ::executorch::runtime;
using ::executorch::aten::SizesType;
using ::executorch::aten::Tensor;

constexpr std::size_t kPortsMax = 4096;
// How long to wait for background work to release the payload; work that hangs is abandoned.
constexpr std::chrono::milliseconds kReleaseTime{2'000};

std::string ordinal(std::size_t index, const std::string& name) {
  return std::to_string(index) + " '" + name + "'";
}

struct AttestationDestroyer {
  void operator()(lb_attestation* attestation) const { lb_attestation_destroy(attestation); }
};
using AttestationHandle = std::unique_ptr<lb_attestation, AttestationDestroyer>;

std::string device_of(const lb_attestation* attestation) {
  auto active = LB_INIT(lb_active);
  if (attestation == nullptr || lb_attestation_get(attestation, &active) != LB_OK) return {};
  return std::string(active.backend) + ":" + active.device;
}

template <class Number>
void store(std::array<std::byte, 8>& place, Number number) {
  static_assert(sizeof number <= 8);
  std::memcpy(place.data(), &number, sizeof number);
}

}  // namespace

LoadedMethod::LoadedMethod(std::string name, std::shared_ptr<Payload> payload)
    : name_(std::move(name)), payload_(std::move(payload)) {}

LoadedMethod::~LoadedMethod() {
  if (model_ == nullptr) return;
  const bool hangs = hung_runs() > 0;
  model_.reset();
  if (!payload_->wait_until_released(hangs ? std::chrono::milliseconds(0) : kReleaseTime)) {
    say(Level::kError, name_ +
                           ": a device still uses the payload; if the host owns the program's memory, it must keep it "
                           "until the device returns");
  }
}

et::Error LoadedMethod::load(const lb_runtime* runtime, std::string name, const std::shared_ptr<Payload>& payload,
                             const lb_options* options, std::unique_ptr<LoadedMethod>& loaded) {
  std::unique_ptr<LoadedMethod> method(new LoadedMethod(std::move(name), payload));
  auto memory = LB_INIT(lb_model_memory);
  memory.format = LB_FORMAT_BY_FIRST_BYTES;
  memory.graph = payload->bytes().data();
  memory.graph_size = payload->bytes().size();
  memory.release = &Payload::release;
  memory.context = Payload::context_for(payload);
  memory.name = method->name_.c_str();
  lb_model* model = nullptr;
  if (const lb_code code = lb_model_load_memory(runtime, &memory, options, nullptr, &model); code != LB_OK) {
    const Status failure = Status::of(code);
    // The command that helps comes first.
    if (code == LB_NO_DEVICE) {
      if (const Status check = Status::of(lb_runtime_check(runtime)); !check.ok()) say(Level::kError, check.message());
    }
    return say_status(method->name_ + " cannot be loaded", failure);
  }
  method->model_.reset(model);
  if (const et::Error error = method->read_ports(); error != et::Error::Ok) return error;
  loaded = std::move(method);
  return et::Error::Ok;
}

et::Error LoadedMethod::read_ports() {
  const auto read = [&](std::size_t count, auto get, std::vector<Port>& ports) {
    for (std::size_t i = 0; i < std::min(count, kPortsMax); ++i) {
      auto info = LB_INIT(lb_tensor_info);
      if (const lb_code code = get(model_.get(), i, &info); code != LB_OK) return say_last_error(name_, code);
      ports.push_back({info.name, info.type, {info.shape, info.shape + info.rank}});
    }
    return et::Error::Ok;
  };
  ET_CHECK_OK_OR_RETURN_ERROR(read(lb_model_input_count(model_.get()), lb_model_input, input_ports_));
  ET_CHECK_OK_OR_RETURN_ERROR(read(lb_model_output_count(model_.get()), lb_model_output, output_ports_));
  inputs_.resize(input_ports_.size());
  scalars_.resize(input_ports_.size());
  output_handles_.resize(output_ports_.size());
  outputs_.resize(output_ports_.size());
  for (Output& output : outputs_) {
    for (auto* place : {&output.in_place, &output.aside}) {
      lb_output* made = nullptr;
      if (const lb_code code = lb_output_create(nullptr, 0, &made); code != LB_OK) return say_last_error(name_, code);
      place->reset(made);
    }
  }
  return et::Error::Ok;
}

et::Error LoadedMethod::refuse(const std::string& text, et::Error error) const {
  say(Level::kError, name_ + ": " + text);
  return error;
}

et::Error LoadedMethod::read_input(std::size_t index, const et::EValue& value) {
  const Port& port = input_ports_[index];
  lb_tensor& input = inputs_[index];
  const auto expects = [&] {
    return "input " + ordinal(index, port.name) + " takes " + type_name(port.type) + " " + shape_text(port.shape);
  };
  input.strided = 0;
  if (!value.isTensor()) {
    // A number stands for a tensor of rank 0.
    input.rank = 0;
    input.type = port.type;
    input.data = scalars_[index].data();
    if (port.shape.empty()) {
      if (value.isBool() && port.type == LB_BOOL) return store(scalars_[index], value.toBool()), et::Error::Ok;
      if (value.isInt() && port.type == LB_I64) return store(scalars_[index], value.toInt()), et::Error::Ok;
      if (value.isInt() && port.type == LB_I32 && value.toInt() >= std::numeric_limits<std::int32_t>::min() &&
          value.toInt() <= std::numeric_limits<std::int32_t>::max()) {
        return store(scalars_[index], static_cast<std::int32_t>(value.toInt())), et::Error::Ok;
      }
      if (value.isDouble() && port.type == LB_F64) return store(scalars_[index], value.toDouble()), et::Error::Ok;
      if (value.isDouble() && port.type == LB_F32) {
        return store(scalars_[index], static_cast<float>(value.toDouble())), et::Error::Ok;
      }
    }
    std::array<char, et::kTagNameBufferSize> tag{};
    (void)et::tag_to_string(value.tag, tag.data(), tag.size());
    return refuse(expects() + ", but a value of kind " + tag.data() + " was given", et::Error::InvalidType);
  }
  const Tensor& tensor = value.toTensor();
  const auto type = type_of(tensor.scalar_type());
  if (!type || *type != port.type) {
    return refuse(expects() + ", but " + type_name(tensor.scalar_type()) + " " + shape_text(tensor) + " was given",
                  et::Error::InvalidType);
  }
  const auto rank = static_cast<std::size_t>(tensor.dim());
  bool fits = rank == port.shape.size();
  for (std::size_t d = 0; fits && d < rank; ++d)
    fits = port.shape[d] == LB_DYNAMIC || port.shape[d] == tensor.sizes()[d];
  if (!fits) {
    return refuse(expects() + ", but shape " + shape_text(tensor) + " was given", et::Error::InvalidArgument);
  }
  if (tensor.unsafeGetTensorImpl()->device_type() != et::etensor::DeviceType::CPU) {
    return refuse(expects() + " in the memory of the processor, but a tensor on a device was given",
                  et::Error::NotSupported);
  }
  input.data = tensor.mutable_data_ptr();
  input.type = *type;
  input.rank = static_cast<std::int32_t>(rank);
  std::ranges::copy(tensor.sizes(), input.shape);
  if (!is_row_major(tensor)) {
    input.strided = 1;
    std::ranges::copy(tensor.strides(), input.strides);
  }
  return et::Error::Ok;
}

et::Error LoadedMethod::prepare_output(std::size_t index, const et::EValue& value) {
  const Port& port = output_ports_[index];
  Output& output = outputs_[index];
  const auto gives = [&] {
    return "output " + ordinal(index, port.name) + " gives " + type_name(port.type) + " " + shape_text(port.shape);
  };
  if (!value.isTensor()) {
    std::array<char, et::kTagNameBufferSize> tag{};
    (void)et::tag_to_string(value.tag, tag.data(), tag.size());
    return refuse(gives() + ", but a value of kind " + tag.data() + " was given for it", et::Error::InvalidType);
  }
  const Tensor& tensor = value.toTensor();
  const auto type = type_of(tensor.scalar_type());
  if (!type || *type != port.type) {
    return refuse(gives() + ", but a tensor of " + type_name(tensor.scalar_type()) + " " + shape_text(tensor) +
                      " was given for it",
                  et::Error::InvalidType);
  }
  if (static_cast<std::size_t>(tensor.dim()) != port.shape.size()) {
    return refuse(gives() + ", but a tensor of shape " + shape_text(tensor) + " was given for it",
                  et::Error::InvalidArgument);
  }
  if (tensor.unsafeGetTensorImpl()->device_type() != et::etensor::DeviceType::CPU) {
    return refuse(gives() + " in the memory of the processor, but a tensor on a device was given for it",
                  et::Error::NotSupported);
  }
  void* data = tensor.mutable_data_ptr();
  output.uses_in_place = data != nullptr && is_row_major(tensor);
  if (!output.uses_in_place) {
    output_handles_[index] = output.aside.get();
    return et::Error::Ok;
  }
  if (data != output.data) {
    output.data = data;
    output.capacity = 0;
  }
  output.capacity = std::max(output.capacity, tensor.nbytes());
  if (const lb_code code = lb_output_bind(output.in_place.get(), data, output.capacity); code != LB_OK) {
    return say_last_error(name_, code);
  }
  output_handles_[index] = output.in_place.get();
  return et::Error::Ok;
}

et::Error LoadedMethod::take_output(std::size_t index, const et::EValue& value) {
  lb_tensor made{};
  if (const lb_code code = lb_output_get(output_handles_[index], &made); code != LB_OK) {
    return say_last_error(name_, code);
  }
  const Port& port = output_ports_[index];
  Tensor tensor = value.toTensor();
  std::array<SizesType, LB_RANK_MAX> sizes{};
  const auto rank = static_cast<std::size_t>(made.rank);
  const std::span<const std::int64_t> shape(made.shape, rank);
  bool same = rank == static_cast<std::size_t>(tensor.dim());
  bool fits = same;
  for (std::size_t d = 0; fits && d < rank; ++d) {
    fits = shape[d] <= std::numeric_limits<SizesType>::max();
    sizes[d] = static_cast<SizesType>(shape[d]);
    same = same && sizes[d] == tensor.sizes()[d];
  }
  if (!same) {
    const std::string room = shape_text(tensor);
    if (!fits || et::resize_tensor(tensor, {sizes.data(), rank}) != et::Error::Ok) {
      return refuse("output " + ordinal(index, port.name) + " came out as " + shape_text(shape) +
                        ", and the program's tensor, now " + room + ", cannot get that shape",
                    et::Error::InvalidArgument);
    }
  }
  Output& output = outputs_[index];
  if (output.uses_in_place && output_handles_[index] == output.in_place.get()) return et::Error::Ok;
  if (tensor.nbytes() == 0) return et::Error::Ok;
  if (tensor.mutable_data_ptr() == nullptr) {
    return refuse("output " + ordinal(index, port.name) + " has no memory in the program", et::Error::InvalidArgument);
  }
  if (is_row_major(tensor)) {
    std::memcpy(tensor.mutable_data_ptr(), made.data, tensor.nbytes());
    if (output.uses_in_place) output.capacity = std::max(output.capacity, tensor.nbytes());
  } else {
    copy_to_order(made, tensor);
  }
  return et::Error::Ok;
}

lb_code LoadedMethod::run(et::BackendExecutionContext& context) {
  auto options = LB_INIT(lb_call_options);
  const auto once = [&] {
    return lb_model_run(model_.get(), inputs_.data(), inputs_.size(), output_handles_.data(), output_handles_.size(),
                        &options);
  };
  et::EventTracer* tracer = context.event_tracer();
  lb_attestation* answered_by = nullptr;
  et::EventTracerEntry entry{};
  if (tracer != nullptr) {
    options.answered_by = &answered_by;
    entry = tracer->start_profiling_delegate("latebind.execute", et::kUnsetDelegateDebugIntId);
  }
  lb_code code = once();
  if (code == LB_BUFFER_TOO_SMALL) {
    // The tensor was shrunk before this method first saw it. It may have enough room, but only the tensor knows.
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      output_handles_[i] = outputs_[i].aside.get();
    code = once();
  }
  if (tracer != nullptr) {
    const AttestationHandle handle(answered_by);
    const std::string device = device_of(answered_by);
    tracer->end_profiling_delegate(entry, device.data(), device.size());
  }
  return code;
}

et::Error LoadedMethod::execute(et::BackendExecutionContext& context, et::Span<et::EValue*> args) {
  if (args.size() != inputs_.size() + outputs_.size()) {
    return refuse("the model takes " + std::to_string(inputs_.size()) + " inputs and gives " +
                      std::to_string(outputs_.size()) + " outputs; the program has " + std::to_string(args.size()) +
                      " arguments for them",
                  et::Error::InvalidArgument);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    ET_CHECK_OK_OR_RETURN_ERROR(read_input(i, *args[i]));
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    ET_CHECK_OK_OR_RETURN_ERROR(prepare_output(i, *args[inputs_.size() + i]));
  if (const lb_code code = run(context); code != LB_OK) return say_last_error(name_, code);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    ET_CHECK_OK_OR_RETURN_ERROR(take_output(i, *args[inputs_.size() + i]));
  return et::Error::Ok;
}

std::size_t LoadedMethod::hung_runs() const {
  lb_attestation* raw = nullptr;
  auto active = LB_INIT(lb_active);
  if (lb_model_attestation(model_.get(), &raw) != LB_OK) return 0;
  const AttestationHandle handle(raw);
  return lb_attestation_get(raw, &active) == LB_OK ? active.hung_runs : 0;
}

LoadedMethod::Active LoadedMethod::active() const {
  lb_attestation* raw = nullptr;
  if (lb_model_attestation(model_.get(), &raw) != LB_OK) return {};
  const AttestationHandle handle(raw);
  auto active = LB_INIT(lb_active);
  if (lb_attestation_get(raw, &active) != LB_OK) return {};
  return {device_of(raw), active.precision, active.runtime_version, active.fallback != 0 ? active.reason : ""};
}

}  // namespace latebind::delegate
