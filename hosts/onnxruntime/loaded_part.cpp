#include "hosts/onnxruntime/loaded_part.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "core/graph/onnx_types.h"
#include "core/json/value.h"
#include "core/platform/files/folders.h"
#include "core/platform/process_generation.h"

namespace latebind::provider {
namespace {

struct Living {
  core::Mutex mutex;
  std::vector<const LoadedPart*> parts LB_GUARDED_BY(mutex);  // in the order in which they were bound
};

// Never destroyed: sessions may outlive the static objects of any library. A child made by fork() starts without parts,
// since its parent's parts do not work there.
Living& living() noexcept {
  static platform::PerProcess<Living> instance;
  return instance.get();
}

std::size_t elements_of(std::span<const std::int64_t> shape) {
  std::size_t count = 1;
  for (const std::int64_t dimension : shape)
    count *= static_cast<std::size_t>(dimension);
  return count;
}

std::vector<std::size_t> places(const std::vector<TensorInfo>& tensors, const std::vector<ValueView>& values,
                                const std::string& name, const char* what) {
  std::vector<std::size_t> result;
  for (const TensorInfo& tensor : tensors) {
    const auto found = std::ranges::find(values, tensor.name, &ValueView::name);
    if (found == values.end()) {
      throw Failure(abi::kInvalidGraph, "Latebind: " + name + ": the model has the " + what + " '" + tensor.name +
                                            "', which the node does not have");
    }
    result.push_back(static_cast<std::size_t>(found - values.begin()));
  }
  return result;
}

std::vector<TensorInfo> infos(const lb_model* model, std::size_t count,
                              lb_code (*get)(const lb_model*, std::size_t, lb_tensor_info*)) {
  std::vector<TensorInfo> list;
  for (std::size_t i = 0; i < count; ++i) {
    auto info = LB_INIT(lb_tensor_info);
    if (const lb_code code = get(model, i, &info); code != LB_OK) throw failure_of("Latebind", Status::of(code));
    list.push_back({info.name, info.type, {info.shape, info.shape + info.rank}, {}});
  }
  return list;
}

// Memory that lives as long as Latebind refers to it.
lb_model_memory memory_of(const std::shared_ptr<const void>& owner, std::string_view bytes, std::int32_t format) {
  auto memory = LB_INIT(lb_model_memory);
  memory.format = format;
  memory.graph = bytes.data();
  memory.graph_size = bytes.size();
  memory.context = new std::shared_ptr<const void>(owner);
  memory.release = [](void* context) { delete static_cast<std::shared_ptr<const void>*>(context); };
  return memory;
}

// Whether an output has this shape in every run. An empty shape may stand for an unknown rank.
bool is_known(std::span<const std::int64_t> shape) {
  return !shape.empty() && std::ranges::none_of(shape, [](std::int64_t dimension) { return dimension < 0; });
}

// Whether a run with this error is not computed elsewhere, because it has no time left.
bool is_over(lb_code code) {
  return code == LB_DEADLINE_EXCEEDED || code == LB_CANCELLED;
}

// Checks that the application's files still have the data that the host has read.
void check_unchanged(const std::vector<ExternalWeights>& weights, const std::string& name) {
  for (const ExternalWeights& one : weights) {
    if (one.is_temporary) continue;
    const auto now = platform::file_identity(one.file->file());
    if (now.ok() && *now == one.file->identity()) continue;
    throw Failure(abi::kFail, "Latebind: " + name + ": " + platform::path_to_utf8(one.file->file()) +
                                  " changed while the session was created");
  }
}

}  // namespace

LoadedPart::LoadedPart(const Runtime& runtime, std::string name, OnnxPart part, const Options& options)
    : LoadedPart(runtime, std::move(name), std::make_shared<const OnnxPart>(std::move(part)), options) {}

LoadedPart::LoadedPart(const Runtime& runtime, std::string name, const std::shared_ptr<const OnnxPart>& owner,
                       const Options& options)
    : name_(std::move(name)) {
  again_ = [name = name_, owner](const Runtime& other, const Options& others) {
    return std::unique_ptr<LoadedPart>(new LoadedPart(other, name, owner, others));
  };
  std::vector<lb_external_data> external;
  std::vector<std::string> names;
  for (const ExternalWeights& weights : owner->weights) {
    external.push_back({weights.location.c_str(), nullptr, 0});
    names.push_back(weights.is_temporary ? "" : platform::path_to_utf8(weights.file->file()));
    if (!weights.is_temporary) continue;
    external.back().data = weights.file->bytes().data();
    external.back().size = weights.file->bytes().size();
  }
  std::vector<const char*> files;
  for (const std::string& file : names)
    files.push_back(file.empty() ? nullptr : file.c_str());
  auto memory = memory_of(owner, owner->model, LB_FORMAT_ONNX);
  memory.external = external.data();
  memory.external_count = external.size();
  memory.external_files = files.data();
  begin(runtime, options, memory);
  check_unchanged(owner->weights, name_);
  name_ports(owner->inputs, owner->outputs);
  for (const TensorInfo& input : inputs_) {
    if (std::ranges::find(owner->inputs, input.name) != owner->inputs.end()) continue;
    throw Failure(abi::kInvalidGraph, "Latebind: " + name_ + ": the device takes '" + input.name + "' as an input");
  }
  if (outputs_.size() != owner->outputs.size()) {
    throw Failure(abi::kInvalidGraph, "Latebind: " + name_ + ": the device has other outputs than the model");
  }
}

LoadedPart::LoadedPart(const Runtime& runtime, std::string name, const std::shared_ptr<const void>& owner,
                       std::string_view bundle, const Options& options)
    : name_(std::move(name)) {
  again_ = [name = name_, owner, bundle](const Runtime& other, const Options& others) {
    return std::make_unique<LoadedPart>(other, name, owner, bundle, others);
  };
  begin(runtime, options, memory_of(owner, bundle, LB_FORMAT_BUNDLE));
}

LoadedPart::LoadedPart(const Runtime& runtime, std::string name, const std::filesystem::path& file,
                       const Options& options)
    : name_(std::move(name)) {
  again_ = [name = name_, file](const Runtime& other, const Options& others) {
    return std::make_unique<LoadedPart>(other, name, file, others);
  };
  lb_model* model = nullptr;
  const lb_code code =
      lb_model_load_file(runtime.get(), platform::path_to_utf8(file).c_str(), options.get(), nullptr, &model);
  if (code != LB_OK) throw failure_of("Latebind: " + name_, Status::of(code));
  begin(model);
}

void LoadedPart::begin(const Runtime& runtime, const Options& options, lb_model_memory memory) {
  memory.name = name_.c_str();
  lb_model* model = nullptr;
  const lb_code code = lb_model_load_memory(runtime.get(), &memory, options.get(), nullptr, &model);
  if (code != LB_OK) throw failure_of("Latebind: " + name_, Status::of(code));
  begin(model);
}

void LoadedPart::begin(lb_model* model) {
  model_.reset(model);
  inputs_ = infos(model, lb_model_input_count(model), lb_model_input);
  outputs_ = infos(model, lb_model_output_count(model), lb_model_output);
}

LoadedPart::~LoadedPart() {
  Living& all = living();
  const core::MutexLock lock(all.mutex);
  std::erase(all.parts, this);
}

void LoadedPart::name_ports(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  const auto name = [](std::vector<TensorInfo>& ports, const std::vector<std::string>& names) {
    if (ports.size() != names.size()) return;
    for (std::size_t i = 0; i < ports.size(); ++i)
      ports[i].name = names[i];
  };
  name(inputs_, inputs);
  name(outputs_, outputs);
}

void LoadedPart::bind(const std::vector<ValueView>& inputs, const std::vector<ValueView>& outputs) {
  input_places_ = places(inputs_, inputs, name_, "input");
  output_places_ = places(outputs_, outputs, name_, "output");
  for (const ValueView& output : outputs) {
    if (output.raw != nullptr && std::ranges::find(outputs_, output.name, &TensorInfo::name) == outputs_.end()) {
      throw Failure(abi::kInvalidGraph,
                    "Latebind: " + name_ + ": the model does not make '" + output.name + "', which the node has");
    }
  }
  const auto names = [](const std::vector<ValueView>& values) {
    std::vector<ValueView> kept;
    for (const ValueView& value : values)
      kept.push_back({nullptr, value.name});
    return kept;
  };
  node_inputs_ = names(inputs);
  node_outputs_ = names(outputs);
  Living& all = living();
  const core::MutexLock lock(all.mutex);
  all.parts.push_back(this);
}

LoadedPart& LoadedPart::on_host() {
  const core::MutexLock lock(host_mutex_);
  if (on_host_ == nullptr) {
    auto other = again_(fallback_->runtime(), fallback_->options());
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    for (const TensorInfo& input : inputs_)
      inputs.push_back(input.name);
    for (const TensorInfo& output : outputs_)
      outputs.push_back(output.name);
    other->name_ports(inputs, outputs);
    other->bind(node_inputs_, node_outputs_);
    on_host_ = std::move(other);
  }
  return *on_host_;
}

std::unique_ptr<LoadedPart::Buffers> LoadedPart::take_buffers() {
  {
    const core::MutexLock lock(mutex_);
    if (!free_.empty()) {
      auto buffers = std::move(free_.back());
      free_.pop_back();
      return buffers;
    }
  }
  auto buffers = std::make_unique<Buffers>();
  buffers->inputs.resize(inputs_.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    auto output = Output::create();
    if (!output.ok()) throw failure_of("Latebind: " + name_, output.status());
    buffers->outputs.push_back(*std::move(output));
    buffers->handles.push_back(buffers->outputs.back().get());
  }
  return buffers;
}

void LoadedPart::run(const Host& host, abi::KernelContext* context, std::uint64_t timeout_ms) {
  std::unique_ptr<Buffers> buffers = take_buffers();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const abi::Value* value = nullptr;
    host.check(host->KernelContext_GetInput(context, input_places_[i], &value));
    if (value == nullptr) {
      throw Failure(abi::kInvalidArgument, "Latebind: " + name_ + ": input '" + inputs_[i].name + "' was not given");
    }
    abi::ElementType type{};
    const std::int64_t* shape = nullptr;
    std::size_t rank = 0;
    host.check(host->GetTensorElementTypeAndShapeDataReference(value, &type, &shape, &rank));
    if (rank > LB_RANK_MAX) {
      throw Failure(abi::kInvalidArgument,
                    "Latebind: " + name_ + ": input '" + inputs_[i].name + "' has more than 8 dimensions");
    }
    if (rank > 0) Host::need(shape, "shape of an input");
    const void* data = nullptr;
    host.check(host->GetTensorData(value, &data));
    if (elements_of({shape, rank}) > 0) Host::need(data, "data of an input");
    lb_tensor& input = buffers->inputs[i];
    input.data = const_cast<void*>(data);
    input.type = latebind_type(type);
    input.rank = static_cast<std::int32_t>(rank);
    std::copy_n(shape, rank, input.shape);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::vector<std::int64_t>& shape = outputs_[i].shape;
    void* data = nullptr;
    std::size_t size = 0;
    if (is_known(shape)) {
      abi::Value* value = nullptr;
      host.check(host->KernelContext_GetOutput(context, output_places_[i], shape.data(), shape.size(), &value));
      host.check(host->GetTensorMutableData(Host::need(value, "output"), &data));
      size = elements_of(shape) * core::size_of(static_cast<core::ElementType>(outputs_[i].type));
      // With null, Latebind would allocate memory that the host does not see.
      if (size > 0) Host::need(data, "data of an output");
    }
    if (const lb_code code = lb_output_bind(buffers->handles[i], data, size); code != LB_OK) {
      throw failure_of("Latebind: " + name_, Status::of(code));
    }
  }
  auto call = LB_INIT(lb_call_options);
  call.timeout_ms = timeout_ms;
  // Buffers of a failed run are not reused.
  if (const lb_code code = lb_model_run(model_.get(), buffers->inputs.data(), buffers->inputs.size(),
                                        buffers->handles.data(), buffers->handles.size(), &call);
      code != LB_OK) {
    const Failure failure = failure_of("Latebind: " + name_, Status::of(code));
    if (fallback_ == nullptr || fallback_->is_forbidden() || is_over(code)) throw failure;
    // The devices work, but do not compute this request, or do not compute it as ONNX defines it.
    const bool is_of_the_request = code == LB_UNSUPPORTED || code == LB_INVALID_ARGUMENT;
    try {
      LoadedPart& other = on_host();
      if (!reported_.exchange(true)) {
        host.log(is_of_the_request ? abi::kInfo : abi::kWarning,
                 std::string("Latebind: the host's CPU computes this run: ") + failure.what(), nullptr);
      }
      other.run(host, context, timeout_ms);
    } catch (const Failure& other) {
      throw Failure(abi::kFail, std::string(failure.what()) + "; the host's CPU was asked instead: " + other.what());
    }
    return;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (is_known(outputs_[i].shape)) continue;
    const lb_tensor made = buffers->outputs[i].tensor();
    const std::span<const std::int64_t> shape(made.shape, static_cast<std::size_t>(made.rank));
    abi::Value* value = nullptr;
    host.check(host->KernelContext_GetOutput(context, output_places_[i], shape.data(), shape.size(), &value));
    const std::size_t size = elements_of(shape) * core::size_of(static_cast<core::ElementType>(made.type));
    if (size == 0) continue;
    void* data = nullptr;
    host.check(host->GetTensorMutableData(Host::need(value, "output"), &data));
    std::memcpy(Host::need(data, "data of an output"), made.data, size);
  }
  const core::MutexLock lock(mutex_);
  free_.push_back(std::move(buffers));
}

Attestation LoadedPart::attestation() const {
  lb_attestation* raw = nullptr;
  const lb_code code = lb_model_attestation(model_.get(), &raw);
  auto attestation = detail::read_attestation(code, raw);
  if (!attestation.ok()) throw failure_of("Latebind: " + name_, attestation.status());
  return *std::move(attestation);
}

std::string attestations_as_json() {
  Living& all = living();
  const core::MutexLock lock(all.mutex);
  core::Json parts = core::Json::array();
  for (const LoadedPart* part : all.parts) {
    const Attestation active = part->attestation();
    core::Json steps = core::Json::array();
    for (const PlacementStep& step : active.steps)
      steps.push_back(core::Json{{"device", step.device}, {"taken", step.taken}, {"reason", step.reason}});
    parts.push_back(core::Json{{"node", part->name()},
                               {"device", active.backend + ":" + active.device},
                               {"full_name", active.device_full_name},
                               {"precision", active.precision},
                               {"runtime_version", active.runtime_version},
                               {"library", active.library_file},
                               {"threads", active.threads},
                               {"fallback", active.fallback},
                               {"reason", active.reason},
                               {"emulated", active.emulated},
                               {"nodes", active.nodes},
                               {"host_nodes", active.host_nodes},
                               {"verification", active.verification},
                               {"steps", std::move(steps)}});
  }
  return parts.dump();
}

}  // namespace latebind::provider
