// Latebind for C++20: a thin layer of headers over the C interface (latebind.h), which documents what everything means.
//
// Objects own their handles, move and do not copy. Nothing here throws on its own account: what can fail returns a
// Status or a Result. Thread-safety is that of the C objects. Link against the library `latebind`.
#ifndef LATEBIND_LATEBIND_HPP
#define LATEBIND_LATEBIND_HPP

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "latebind.h"

namespace latebind {

// The outcome of a call: ok, or an error with everything that is known about it.
class [[nodiscard]] Status {
 public:
  Status() = default;

  // The outcome of a C call on this thread, just made.
  static Status of(lb_code code) {
    Status status;
    if (code == LB_OK) return status;
    lb_error error{};
    error.struct_size = sizeof error;
    lb_last_error(&error);
    status.code_ = code;
    status.retryable_ = error.retryable != 0;
    status.message_ = error.message;
    if (error.has_vendor_code != 0) status.vendor_code_ = error.vendor_code;
    status.vendor_text_ = error.vendor_text;
    return status;
  }

  [[nodiscard]] bool ok() const { return code_ == LB_OK; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] lb_code code() const { return code_; }
  [[nodiscard]] const char* name() const { return lb_code_name(code_); }
  [[nodiscard]] bool retryable() const { return retryable_; }
  // One line: our words and the vendor's.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] std::optional<std::int64_t> vendor_code() const { return vendor_code_; }
  [[nodiscard]] const std::string& vendor_text() const { return vendor_text_; }

 private:
  lb_code code_ = LB_OK;
  bool retryable_ = false;
  std::string message_;
  std::optional<std::int64_t> vendor_code_;
  std::string vendor_text_;
};

// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] Status status() const { return ok() ? Status() : *std::get_if<1>(&state_); }

  // Only when ok().
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

 private:
  std::variant<T, Status> state_;
};

namespace detail {

template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* object) const {
    Destroy(object);
  }
};

template <class T, auto Destroy>
using Handle = std::unique_ptr<T, Destroyer<Destroy>>;

template <class T>
T sized() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

}  // namespace detail

struct Device {
  std::string id;
  std::string backend;
  std::string name;
  std::int32_t kind = LB_DEVICE_OTHER;
  bool is_virtual = false;
  std::string full_name;
  std::string runtime_version;
  std::map<std::string, std::string> metadata;
};

struct Backend {
  std::string name;
  bool available = false;
  std::string reason;  // why it is not
  std::string runtime_version;
  std::string install_hint;
};

struct Devices {
  std::vector<Device> devices;
  std::vector<Backend> backends;
};

struct PlacementStep {
  std::string device;
  bool taken = false;
  std::string reason;
};

// Who answers, and why it is not somebody better.
struct Attestation {
  std::string backend;
  std::string device;
  std::string device_full_name;
  std::string runtime_version;
  std::string library_file;
  std::string precision;
  unsigned threads = 0;
  unsigned requests = 0;
  bool fallback = false;
  std::string reason;
  std::vector<PlacementStep> steps;
  std::vector<std::size_t> fixed_lengths;  // empty when it takes any length
  std::size_t fixed_rows = 0;
  std::size_t hung_runs = 0;  // given up and not come back; 0 for one answer
  bool emulated = false;      // by the vendor's emulation of a device that is not in this machine
};

// Says to runs and loads that carry it that they should end. From any thread; one serves any number of them, and may go
// before they do.
class Cancellation {
 public:
  static Result<Cancellation> create() {
    lb_cancellation* raw = nullptr;
    if (const lb_code code = lb_cancellation_create(&raw); code != LB_OK) return Status::of(code);
    return Cancellation(raw);
  }
  void request() const { lb_cancellation_request(handle_.get()); }
  [[nodiscard]] const lb_cancellation* get() const { return handle_.get(); }

 private:
  explicit Cancellation(lb_cancellation* raw) : handle_(raw) {}
  detail::Handle<lb_cancellation, lb_cancellation_destroy> handle_;
};

struct LoadOptions {
  std::string device = "auto";
  std::string precision = "f32";
  std::string hint = "latency";
  unsigned threads = 0;
  unsigned requests = 0;
  bool strict = false;
  std::map<std::string, std::string> properties{};
  std::uint64_t run_timeout_ms = 0;
  std::string cache_folder{};  // empty: compiled models are not kept
  bool emulate = false;        // a virtual device that is named exactly may run in its vendor's emulation
  std::vector<std::vector<std::int64_t>> input_shapes{};  // static ones, for each input; empty: as the model declares
  std::string config_file{};  // with one, what is at its default here is as the file says; empty: no file is read
  std::uint64_t load_timeout_ms = 0;
  const Cancellation* cancellation = nullptr;  // ends the loading, not what is loaded
};

struct EmbedderOptions {
  LoadOptions load{};
  std::size_t batch_tokens = 0;
  std::size_t max_tokens = 0;
  std::string shapes = "auto";
  std::vector<std::size_t> fixed_lengths{};
  std::size_t fixed_rows = 0;
  bool preload = false;
};

namespace detail {

// The C form of LoadOptions; refers to it.
class CLoadOptions {
 public:
  explicit CLoadOptions(const LoadOptions& options) : value_(sized<lb_load_options>()) {
    const bool has_config = !options.config_file.empty();
    const auto given = [&](const std::string& text, const char* by_default) {
      return has_config && text == by_default ? nullptr : text.c_str();
    };
    value_.device = given(options.device, "auto");
    value_.precision = given(options.precision, "f32");
    value_.hint = given(options.hint, "latency");
    if (has_config) value_.config_file = options.config_file.c_str();
    for (const auto& dims : options.input_shapes) {
      lb_shape& shape = shapes_.emplace_back();
      // A rank that is too large is refused by the load.
      shape.rank = static_cast<std::int32_t>(dims.size());
      for (std::size_t i = 0; i < dims.size() && i < LB_RANK_MAX; ++i)
        shape.dims[i] = dims[i];
    }
    value_.input_shape_count = shapes_.size();
    value_.input_shapes = shapes_.data();
    value_.threads = options.threads;
    value_.requests = options.requests;
    value_.strict = options.strict ? 1 : 0;
    for (const auto& [key, value] : options.properties) {
      keys_.push_back(key.c_str());
      values_.push_back(value.c_str());
    }
    value_.property_count = keys_.size();
    value_.property_keys = keys_.data();
    value_.property_values = values_.data();
    value_.run_timeout_ms = options.run_timeout_ms;
    if (!options.cache_folder.empty()) value_.cache_folder = options.cache_folder.c_str();
    value_.emulate = options.emulate ? 1 : 0;
    value_.load_timeout_ms = options.load_timeout_ms;
    if (options.cancellation != nullptr) value_.cancellation = options.cancellation->get();
  }
  CLoadOptions(const CLoadOptions&) = delete;
  CLoadOptions& operator=(const CLoadOptions&) = delete;
  [[nodiscard]] const lb_load_options* get() const { return &value_; }

 private:
  lb_load_options value_;
  std::vector<const char*> keys_;
  std::vector<const char*> values_;
  std::vector<lb_shape> shapes_;
};

inline Result<Attestation> read_attestation(lb_code code, lb_attestation* raw) {
  if (code != LB_OK) return Status::of(code);
  const Handle<lb_attestation, lb_attestation_destroy> handle(raw);
  auto active = sized<lb_active>();
  if (const lb_code got = lb_attestation_get(raw, &active); got != LB_OK) return Status::of(got);
  Attestation attestation{active.backend,
                          active.device,
                          active.device_full_name,
                          active.runtime_version,
                          active.library_file,
                          active.precision,
                          active.threads,
                          active.requests,
                          active.fallback != 0,
                          active.reason,
                          {},
                          {active.fixed_lengths, active.fixed_lengths + active.fixed_length_count},
                          active.fixed_rows,
                          active.hung_runs,
                          active.emulated != 0};
  for (std::size_t i = 0; i < lb_attestation_step_count(raw); ++i) {
    auto step = sized<lb_placement_step>();
    if (const lb_code got = lb_attestation_step(raw, i, &step); got != LB_OK) return Status::of(got);
    attestation.steps.push_back({step.device, step.taken != 0, step.reason});
  }
  return attestation;
}

}  // namespace detail

template <class T>
struct ElementTypeOf;
template <>
struct ElementTypeOf<bool> : std::integral_constant<std::int32_t, LB_BOOL> {};
template <>
struct ElementTypeOf<std::int8_t> : std::integral_constant<std::int32_t, LB_I8> {};
template <>
struct ElementTypeOf<std::uint8_t> : std::integral_constant<std::int32_t, LB_U8> {};
template <>
struct ElementTypeOf<std::int16_t> : std::integral_constant<std::int32_t, LB_I16> {};
template <>
struct ElementTypeOf<std::uint16_t> : std::integral_constant<std::int32_t, LB_U16> {};
template <>
struct ElementTypeOf<std::int32_t> : std::integral_constant<std::int32_t, LB_I32> {};
template <>
struct ElementTypeOf<std::uint32_t> : std::integral_constant<std::int32_t, LB_U32> {};
template <>
struct ElementTypeOf<std::int64_t> : std::integral_constant<std::int32_t, LB_I64> {};
template <>
struct ElementTypeOf<std::uint64_t> : std::integral_constant<std::int32_t, LB_U64> {};
template <>
struct ElementTypeOf<float> : std::integral_constant<std::int32_t, LB_F32> {};
template <>
struct ElementTypeOf<double> : std::integral_constant<std::int32_t, LB_F64> {};

// A view of a contiguous array as a tensor. The data must stay alive while the tensor is used; a rank above LB_RANK_MAX
// is refused by the run.
template <class T>
[[nodiscard]] lb_tensor tensor_of(const T* data, std::span<const std::int64_t> shape) {
  lb_tensor tensor{};
  tensor.data = const_cast<T*>(data);
  tensor.type = ElementTypeOf<T>::value;
  tensor.rank = static_cast<std::int32_t>(shape.size());
  for (std::size_t i = 0; i < shape.size() && i < LB_RANK_MAX; ++i)
    tensor.shape[i] = shape[i];
  return tensor;
}
template <class T>
[[nodiscard]] lb_tensor tensor_of(const T* data, std::initializer_list<std::int64_t> shape) {
  return tensor_of(data, std::span<const std::int64_t>(shape.begin(), shape.size()));
}

// Where an output goes: a buffer of its own, or the caller's memory.
class Output {
 public:
  static Result<Output> create(void* data = nullptr, std::size_t capacity = 0) {
    lb_output* raw = nullptr;
    if (const lb_code code = lb_output_create(data, capacity, &raw); code != LB_OK) return Status::of(code);
    return Output(raw);
  }
  // The tensor of the last run.
  [[nodiscard]] lb_tensor tensor() const {
    lb_tensor tensor{};
    if (lb_output_get(handle_.get(), &tensor) != LB_OK) tensor = {};
    return tensor;
  }
  // Writes to this memory from now on, to a buffer of its own with null; allocates nothing.
  Status bind(void* data, std::size_t capacity) { return Status::of(lb_output_bind(handle_.get(), data, capacity)); }
  [[nodiscard]] lb_output* get() const { return handle_.get(); }

 private:
  explicit Output(lb_output* raw) : handle_(raw) {}
  detail::Handle<lb_output, lb_output_destroy> handle_;
};

struct TensorInfo {
  std::string name;
  std::int32_t type = LB_F32;
  std::vector<std::int64_t> shape;  // LB_DYNAMIC where not known before a run
  std::vector<std::int64_t> upper;  // the most that a dynamic dimension may be, LB_DYNAMIC where no bound is known
};

class Model {
 public:
  [[nodiscard]] std::vector<TensorInfo> inputs() const {
    return infos(lb_model_input_count(handle_.get()), lb_model_input);
  }
  [[nodiscard]] std::vector<TensorInfo> outputs() const {
    return infos(lb_model_output_count(handle_.get()), lb_model_output);
  }
  // One lb_output for each output of the model. A timeout of zero means none.
  Status run(std::span<const lb_tensor> inputs, std::span<lb_output* const> outputs,
             std::chrono::milliseconds timeout = std::chrono::milliseconds(0),
             const Cancellation* cancellation = nullptr) {
    auto options = detail::sized<lb_run_options>();
    options.timeout_ms = static_cast<std::uint64_t>(timeout.count());
    if (cancellation != nullptr) options.cancellation = cancellation->get();
    return Status::of(
        lb_model_run(handle_.get(), inputs.data(), inputs.size(), outputs.data(), outputs.size(), &options));
  }
  [[nodiscard]] Result<Attestation> attestation() const {
    lb_attestation* raw = nullptr;
    const lb_code code = lb_model_attestation(handle_.get(), &raw);
    return detail::read_attestation(code, raw);
  }

 private:
  friend class Runtime;
  explicit Model(lb_model* raw) : handle_(raw) {}

  template <class Get>
  std::vector<TensorInfo> infos(std::size_t count, Get get) const {
    std::vector<TensorInfo> list;
    for (std::size_t i = 0; i < count; ++i) {
      auto info = detail::sized<lb_tensor_info>();
      if (get(handle_.get(), i, &info) != LB_OK) break;
      list.push_back(
          {info.name, info.type, {info.shape, info.shape + info.rank}, {info.upper, info.upper + info.rank}});
    }
    return list;
  }

  detail::Handle<lb_model, lb_model_destroy> handle_;
};

class Embedder {
 public:
  [[nodiscard]] std::size_t dimension() const { return lb_embedder_dimension(handle_.get()); }
  [[nodiscard]] std::size_t max_tokens() const { return lb_embedder_max_tokens(handle_.get()); }

  // Rows of dimension() floats, in the order of the texts.
  [[nodiscard]] Result<std::vector<float>> embed(std::span<const std::string_view> texts,
                                                 lb_embed_stats* stats = nullptr) const {
    std::vector<lb_text> views(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      views[i] = {texts[i].data(), texts[i].size()};
    std::vector<float> vectors(texts.size() * dimension());
    const lb_code code =
        lb_embedder_embed(handle_.get(), views.data(), views.size(), vectors.data(), vectors.size(), stats);
    if (code != LB_OK) return Status::of(code);
    return vectors;
  }
  [[nodiscard]] Result<std::vector<float>> embed(std::string_view text) const { return embed({&text, 1}); }

  [[nodiscard]] Result<Attestation> attestation() const {
    lb_attestation* raw = nullptr;
    const lb_code code = lb_embedder_attestation(handle_.get(), &raw);
    return detail::read_attestation(code, raw);
  }

 private:
  friend class Runtime;
  explicit Embedder(lb_embedder* raw) : handle_(raw) {}
  detail::Handle<lb_embedder, lb_embedder_destroy> handle_;
};

// Where vendors' libraries are, when not by the search.
struct RuntimeOptions {
  std::string openvino_library{};
  std::string onnxruntime_library{};
  std::string onnxruntime_providers{};
  std::string probe_program{};
};

class Runtime {
 public:
  // Paths of vendor libraries, or empty to search for them.
  static Result<Runtime> create(const std::string& openvino_library = {}, const std::string& onnxruntime_library = {}) {
    return create(RuntimeOptions{openvino_library, onnxruntime_library, {}, {}});
  }
  static Result<Runtime> create(const RuntimeOptions& paths) {
    auto options = detail::sized<lb_runtime_options>();
    options.openvino_library = paths.openvino_library.c_str();
    options.onnxruntime_library = paths.onnxruntime_library.c_str();
    options.onnxruntime_providers = paths.onnxruntime_providers.c_str();
    options.probe_program = paths.probe_program.c_str();
    lb_runtime* raw = nullptr;
    if (const lb_code code = lb_runtime_create(&options, &raw); code != LB_OK) return Status::of(code);
    return Runtime(raw);
  }

  // `virtual_too`: also those that can be compiled for but are not in this machine.
  [[nodiscard]] Result<Devices> devices(bool virtual_too = false) const {
    auto options = detail::sized<lb_device_list_options>();
    options.virtual_too = virtual_too ? 1 : 0;
    lb_device_list* raw = nullptr;
    if (const lb_code code = lb_device_list_create_with(handle_.get(), &options, &raw); code != LB_OK) {
      return Status::of(code);
    }
    const detail::Handle<lb_device_list, lb_device_list_destroy> list(raw);
    Devices found;
    for (std::size_t i = 0; i < lb_device_list_count(raw); ++i) {
      auto device = detail::sized<lb_device>();
      if (const lb_code code = lb_device_list_get(raw, i, &device); code != LB_OK) return Status::of(code);
      Device copy{device.id,        device.backend,         device.name, device.kind, device.is_virtual != 0,
                  device.full_name, device.runtime_version, {}};
      for (std::size_t m = 0; m < device.metadata_count; ++m) {
        copy.metadata[device.metadata_keys[m]] = device.metadata_values[m];
      }
      found.devices.push_back(std::move(copy));
    }
    for (std::size_t i = 0; i < lb_device_list_backend_count(raw); ++i) {
      auto backend = detail::sized<lb_backend>();
      if (const lb_code code = lb_device_list_backend(raw, i, &backend); code != LB_OK) return Status::of(code);
      found.backends.push_back(
          {backend.name, backend.code == LB_OK, backend.reason, backend.runtime_version, backend.install_hint});
    }
    return found;
  }

  // Ok when some device of this machine can run models; else what to install, and why each backend cannot be used.
  [[nodiscard]] Status check() const { return Status::of(lb_runtime_check(handle_.get())); }

  // A model in memory, whatever it is (LB_FORMAT_BY_FIRST_BYTES). It is used where it is: `owner`, which may be null,
  // is kept as long as anything refers to it. `name` is for messages.
  [[nodiscard]] Result<Model> load(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                   const LoadOptions& options = {}, const std::string& name = {}) const {
    const detail::CLoadOptions c_options(options);
    auto memory = detail::sized<lb_model_memory>();
    memory.format = LB_FORMAT_BY_FIRST_BYTES;
    memory.graph = bytes.data();
    memory.graph_size = bytes.size();
    memory.context = new std::shared_ptr<const void>(std::move(owner));
    memory.release = [](void* context) { delete static_cast<std::shared_ptr<const void>*>(context); };
    if (!name.empty()) memory.name = name.c_str();
    lb_model* raw = nullptr;
    const lb_code code = lb_model_load_memory(handle_.get(), &memory, c_options.get(), &raw);
    if (code != LB_OK) return Status::of(code);
    return Model(raw);
  }

  // An ONNX model, an OpenVINO IR or a bundle.
  [[nodiscard]] Result<Model> load(const std::string& file, const LoadOptions& options = {}) const {
    const detail::CLoadOptions c_options(options);
    lb_model* raw = nullptr;
    const lb_code code = lb_model_load_file(handle_.get(), file.c_str(), c_options.get(), &raw);
    if (code != LB_OK) return Status::of(code);
    return Model(raw);
  }

  // A sentence-transformers model folder.
  [[nodiscard]] Result<Embedder> open_embedder(const std::string& model_folder,
                                               const EmbedderOptions& options = {}) const {
    const detail::CLoadOptions c_load(options.load);
    auto c_options = detail::sized<lb_embedder_options>();
    c_options.load = c_load.get();
    c_options.batch_tokens = options.batch_tokens;
    c_options.max_tokens = options.max_tokens;
    c_options.shapes = options.shapes.c_str();
    if (!options.fixed_lengths.empty()) c_options.fixed_lengths = options.fixed_lengths.data();
    c_options.fixed_length_count = options.fixed_lengths.size();
    c_options.fixed_rows = options.fixed_rows;
    c_options.preload = options.preload ? 1 : 0;
    lb_embedder* raw = nullptr;
    const lb_code code = lb_embedder_open(handle_.get(), model_folder.c_str(), &c_options, &raw);
    if (code != LB_OK) return Status::of(code);
    return Embedder(raw);
  }

  [[nodiscard]] lb_runtime* get() const { return handle_.get(); }

 private:
  explicit Runtime(lb_runtime* raw) : handle_(raw) {}
  detail::Handle<lb_runtime, lb_runtime_destroy> handle_;
};

}  // namespace latebind

#endif  // LATEBIND_LATEBIND_HPP
