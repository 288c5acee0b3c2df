// Latebind for C++20: a thin header-only layer over the C interface. latebind.h documents every object and function.
//
// Objects own their handles; they can be moved but not copied. A function that can fail returns a Status or a Result.
// Nothing here throws, except that containers of the standard library throw when memory runs out. Thread safety is that
// of the C objects. Link against the library `latebind`.
#ifndef LATEBIND_LATEBIND_HPP
#define LATEBIND_LATEBIND_HPP

// Pre-standard compilers define __cplusplus below 202002. MSVC reports the language version in _MSVC_LANG.
#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error \
    "latebind.hpp needs C++20: compile with -std=c++20 (MSVC: /std:c++20), or link the CMake target \
latebind::latebind, which sees to it; C and older C++ include latebind.h"
#else

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "latebind.h"

namespace latebind {

// The outcome of a call: ok, or an error with all its details.
class [[nodiscard]] Status {
 public:
  Status() = default;

  // Reads the outcome of the C call that this thread has just made.
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
    status.details_ = error.details;
    return status;
  }

  // The error of a call whose time had passed before it began.
  static Status late() {
    Status status;
    status.code_ = LB_DEADLINE_EXCEEDED;
    status.retryable_ = true;
    status.message_ = "the timeout is negative: the time of the call had passed before it began";
    return status;
  }

  [[nodiscard]] bool ok() const { return code_ == LB_OK; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] lb_code code() const { return code_; }
  [[nodiscard]] const char* name() const { return lb_code_name(code_); }
  [[nodiscard]] bool retryable() const { return retryable_; }
  // One line, including the vendor's message.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] std::optional<std::int64_t> vendor_code() const { return vendor_code_; }
  [[nodiscard]] const std::string& vendor_text() const { return vendor_text_; }
  // What led to the error, one item a line, such as each place where a library was searched.
  [[nodiscard]] const std::string& details() const { return details_; }

 private:
  lb_code code_ = LB_OK;
  bool retryable_ = false;
  std::string message_;
  std::optional<std::int64_t> vendor_code_;
  std::string vendor_text_;
  std::string details_;
};

// A value, or the Status that says why there is no value.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] Status status() const { return ok() ? Status() : *std::get_if<1>(&state_); }

  // Requires ok().
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
  std::string reason;  // why the backend is not available
  std::string runtime_version;
  std::string install_hint;
  std::string known_errors;  // what this version computes differently from ONNX
};

struct Devices {
  std::vector<Device> devices;
  std::vector<Backend> backends;
};

struct PlacementStep {
  std::string device;
  bool taken = false;
  std::string reason;
  std::string details;  // what led to the reason, one item a line
};

// What answers, and why a preferred device was not used.
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
  std::vector<std::size_t> static_lengths;  // empty when it takes any length
  std::size_t static_rows = 0;
  std::size_t hung_runs = 0;   // abandoned and not returned yet; 0 in the attestation of one call
  bool emulated = false;       // the vendor's emulation answers: the device is not in this machine
  std::size_t nodes = 0;       // nodes of the model; 0 when the vendor does not report who computes them
  std::size_t host_nodes = 0;  // the nodes among them that the device leaves to its host's CPU
  std::string verification;    // the result of comparing the device with another one; empty without a comparison
};

// Cancels the calls that carry it, from any thread. It serves any number of calls, and may be destroyed before they
// end.
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

// Options of one call.
struct CallOptions {
  std::chrono::milliseconds timeout{0};  // 0: none; negative: has passed already
  const Cancellation* cancellation = nullptr;
};

// Texts by key, as docs/configuration.md has them: {{"device", "npu,cpu"}, {"precision", "f16,f32"}}. Errors in them
// are returned by the function that takes them.
class Options {
 public:
  Options() = default;
  Options(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
    for (const auto& [key, text] : texts)
      set(key, text);
  }
  Options(const Options& other) { apply(other); }
  Options(Options&&) noexcept = default;
  Options& operator=(Options other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(status_, other.status_);
    return *this;
  }
  ~Options() = default;

  // The first error, here and in all further calls.
  [[nodiscard]] const Status& status() const { return status_; }

  Options& set(std::string_view key, std::string_view text) {
    return change(
        [&](lb_options* raw) { return lb_options_set(raw, std::string(key).c_str(), std::string(text).c_str()); });
  }
  Options& unset(std::string_view key) {
    return change([&](lb_options* raw) { return lb_options_set(raw, std::string(key).c_str(), nullptr); });
  }
  Options& read_file(const std::string& file) {
    return change([&](lb_options* raw) { return lb_options_read_file(raw, file.c_str()); });
  }
  Options& read_environment() {
    return change([](lb_options* raw) { return lb_options_read_environment(raw); });
  }
  // Sets what `over` sets.
  Options& apply(const Options& over) {
    if (status_.ok()) status_ = over.status_;
    if (over.handle_ == nullptr) return *this;
    return change([&](lb_options* raw) { return lb_options_apply(raw, over.handle_.get()); });
  }
  // What the key is set to, or the default.
  [[nodiscard]] Result<std::string> get(std::string_view key) const {
    Options none;
    const Options& asked = handle_ != nullptr ? *this : none.change([](lb_options*) { return LB_OK; });
    if (!asked.status_.ok()) return asked.status_;
    auto value = detail::sized<lb_option_value>();
    const lb_code code = lb_options_get(asked.handle_.get(), std::string(key).c_str(), &value);
    if (code != LB_OK) return Status::of(code);
    return std::string(value.text);
  }

  // Null when nothing is set.
  [[nodiscard]] const lb_options* get() const { return handle_.get(); }

 private:
  template <class Change>
  Options& change(Change&& how) {
    if (!status_.ok()) return *this;
    if (handle_ == nullptr) {
      lb_options* raw = nullptr;
      status_ = Status::of(lb_options_create(&raw));
      handle_.reset(raw);
    }
    if (status_.ok()) status_ = Status::of(how(handle_.get()));
    return *this;
  }

  detail::Handle<lb_options, lb_options_destroy> handle_;
  Status status_;
};

namespace detail {

// Whether the call is to be made at all: a negative timeout has no form in C.
inline bool is_late(const CallOptions& call) {
  return call.timeout.count() < 0;
}

inline lb_call_options c_call(const CallOptions& call) {
  auto c = sized<lb_call_options>();
  c.timeout_ms = static_cast<std::uint64_t>(call.timeout.count());
  if (call.cancellation != nullptr) c.cancellation = call.cancellation->get();
  return c;
}

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
                          {active.static_lengths, active.static_lengths + active.static_length_count},
                          active.static_rows,
                          active.hung_runs,
                          active.emulated != 0,
                          active.nodes,
                          active.host_nodes,
                          active.verification};
  for (std::size_t i = 0; i < lb_attestation_step_count(raw); ++i) {
    auto step = sized<lb_placement_step>();
    if (const lb_code got = lb_attestation_step(raw, i, &step); got != LB_OK) return Status::of(got);
    attestation.steps.push_back({step.device, step.taken != 0, step.reason, step.details});
  }
  return attestation;
}

// Takes the list.
inline Result<Devices> read_devices(lb_device_list* raw) {
  const Handle<lb_device_list, lb_device_list_destroy> list(raw);
  Devices found;
  for (std::size_t i = 0; i < lb_device_list_count(raw); ++i) {
    auto device = sized<lb_device>();
    if (const lb_code code = lb_device_list_get(raw, i, &device); code != LB_OK) return Status::of(code);
    Device copy{device.id,        device.backend,         device.name, device.kind, device.is_virtual != 0,
                device.full_name, device.runtime_version, {}};
    for (std::size_t m = 0; m < device.metadata_count; ++m) {
      copy.metadata[device.metadata_keys[m]] = device.metadata_values[m];
    }
    found.devices.push_back(std::move(copy));
  }
  for (std::size_t i = 0; i < lb_device_list_backend_count(raw); ++i) {
    auto backend = sized<lb_backend>();
    if (const lb_code code = lb_device_list_backend(raw, i, &backend); code != LB_OK) return Status::of(code);
    found.backends.push_back({backend.name, backend.code == LB_OK, backend.reason, backend.runtime_version,
                              backend.install_hint, backend.known_errors != nullptr ? backend.known_errors : ""});
  }
  return found;
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
// makes the run fail.
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

// The destination of an output: its own buffer, or the caller's memory.
class Output {
 public:
  static Result<Output> create(void* data = nullptr, std::size_t capacity = 0) {
    lb_output* raw = nullptr;
    if (const lb_code code = lb_output_create(data, capacity, &raw); code != LB_OK) return Status::of(code);
    return Output(raw);
  }
  [[nodiscard]] lb_tensor tensor() const {
    lb_tensor tensor{};
    if (lb_output_get(handle_.get(), &tensor) != LB_OK) tensor = {};
    return tensor;
  }
  // Binds the output to this memory, or to its own buffer if `data` is null. Allocates nothing.
  Status bind(void* data, std::size_t capacity) { return Status::of(lb_output_bind(handle_.get(), data, capacity)); }
  [[nodiscard]] lb_output* get() const { return handle_.get(); }

 private:
  explicit Output(lb_output* raw) : handle_(raw) {}
  detail::Handle<lb_output, lb_output_destroy> handle_;
};

struct TensorInfo {
  std::string name;
  std::int32_t type = LB_F32;
  std::vector<std::int64_t> shape;  // LB_DYNAMIC for dimensions that are not known before a run
  std::vector<std::int64_t> upper;  // upper bound of a dynamic dimension; LB_DYNAMIC when no bound is known
};

class Model {
 public:
  [[nodiscard]] std::vector<TensorInfo> inputs() const {
    return infos(lb_model_input_count(handle_.get()), lb_model_input);
  }
  [[nodiscard]] std::vector<TensorInfo> outputs() const {
    return infos(lb_model_output_count(handle_.get()), lb_model_output);
  }
  // Runs the model. `outputs` has one lb_output for each output of the model.
  Status run(std::span<const lb_tensor> inputs, std::span<lb_output* const> outputs, const CallOptions& call = {}) {
    if (detail::is_late(call)) return Status::late();
    const lb_call_options c = detail::c_call(call);
    return Status::of(lb_model_run(handle_.get(), inputs.data(), inputs.size(), outputs.data(), outputs.size(), &c));
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

// The role of texts, for models that treat queries and documents differently.
enum class Role : std::int32_t {
  kUnspecified = LB_ROLE_UNSPECIFIED,
  kQuery = LB_ROLE_QUERY,
  kDocument = LB_ROLE_DOCUMENT
};

// Two texts that are encoded together.
struct TextPair {
  std::string_view first;  // for example, the query
  std::string_view second;
};

// How an encoder is opened (lb_encoder_options).
struct EncoderOptions {
  std::vector<std::string> outputs{};  // that calls can request; empty: the model's own output
  Role role = Role::kUnspecified;      // the only route of a router that is loaded
};

// How one call deviates from the encoder's settings (lb_encode_options).
struct EncodeOptions {
  std::vector<std::string> outputs{};  // the requested outputs; empty: all outputs of the encoder
  std::size_t dimensions = 0;
  std::size_t max_tokens = 0;
  bool refuse_longer = false;
  bool normalize = false;
  bool alone = false;
  // The text put before every text ("" for no text), or the name of one of the model's prompts. If both are
  // std::nullopt, the model decides.
  std::optional<std::string> prompt{};
  std::optional<std::string> prompt_name{};
  Role role = Role::kUnspecified;
  bool raw_scores = false;
  std::optional<std::string> task{};  // for models with several tasks; std::nullopt: by the role
};

// The token ids of several texts.
class TokenList {
 public:
  [[nodiscard]] std::size_t size() const { return lb_token_list_count(handle_.get()); }
  // The span is valid as long as the list.
  [[nodiscard]] std::span<const std::int32_t> ids(std::size_t text) const {
    lb_token_ids found{};
    if (lb_token_list_get(handle_.get(), text, &found, nullptr) != LB_OK) return {};
    return {found.ids, found.count};
  }
  [[nodiscard]] bool is_truncated(std::size_t text) const {
    lb_token_ids found{};
    std::int32_t truncated = 0;
    return lb_token_list_get(handle_.get(), text, &found, &truncated) == LB_OK && truncated != 0;
  }
  // One entry for each id; empty for a list without offsets. The span is valid as long as the list.
  [[nodiscard]] std::span<const lb_token_offsets> offsets(std::size_t text) const {
    const lb_token_offsets* found = nullptr;
    if (lb_token_list_offsets(handle_.get(), text, &found) != LB_OK) return {};
    return {found, ids(text).size()};
  }
  // What precedes each text. Offsets count from its beginning. Valid as long as the list.
  [[nodiscard]] std::string_view prompt() const {
    lb_text found{};
    if (lb_token_list_prompt(handle_.get(), &found) != LB_OK) return {};
    return {found.data, found.size};
  }

 private:
  friend class Tokenizer;
  explicit TokenList(lb_token_list* raw) : handle_(raw) {}
  detail::Handle<lb_token_list, lb_token_list_destroy> handle_;
};

namespace detail {

inline std::vector<lb_text> c_texts(std::span<const std::string_view> texts) {
  std::vector<lb_text> views(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    views[i] = {texts[i].data(), texts[i].size()};
  return views;
}

inline std::vector<lb_text_pair> c_texts(std::span<const TextPair> pairs) {
  std::vector<lb_text_pair> views(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i)
    views[i] = {{pairs[i].first.data(), pairs[i].first.size()}, {pairs[i].second.data(), pairs[i].second.size()}};
  return views;
}

inline std::vector<lb_token_ids> c_texts(std::span<const std::span<const std::int32_t>> texts) {
  std::vector<lb_token_ids> views(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    views[i] = {texts[i].data(), texts[i].size()};
  return views;
}

// lb_encode_options, which refer to the texts of `options`. `rows` is the memory for the only requested output.
class CEncodeOptions {
 public:
  explicit CEncodeOptions(const EncodeOptions& options, std::span<float> rows = {}) {
    for (const std::string& name : options.outputs)
      requests_.push_back({name.c_str(), nullptr, 0});
    if (rows.data() != nullptr) requests_.assign(1, {nullptr, rows.data(), rows.size()});
    if (!requests_.empty()) c_.outputs = requests_.data();
    c_.output_count = requests_.size();
    c_.dimensions = options.dimensions;
    c_.max_tokens = options.max_tokens;
    c_.refuse_longer = options.refuse_longer ? 1 : 0;
    c_.normalize = options.normalize ? 1 : 0;
    c_.alone = options.alone ? 1 : 0;
    c_.role = static_cast<std::int32_t>(options.role);
    c_.raw_scores = options.raw_scores ? 1 : 0;
    if (options.prompt) c_.prompt = options.prompt->c_str();
    if (options.prompt_name) c_.prompt_name = options.prompt_name->c_str();
    if (options.task) c_.task = options.task->c_str();
  }
  CEncodeOptions(const CEncodeOptions&) = delete;
  CEncodeOptions& operator=(const CEncodeOptions&) = delete;
  ~CEncodeOptions() = default;
  [[nodiscard]] const lb_encode_options* get() const { return &c_; }

 private:
  std::vector<lb_output_request> requests_;
  lb_encode_options c_ = sized<lb_encode_options>();
};

}  // namespace detail

class Tokenizer {
 public:
  // Opens the tokenizer of a model folder; needs no runtime.
  static Result<Tokenizer> open(const std::string& model_folder) {
    lb_tokenizer* raw = nullptr;
    if (const lb_code code = lb_tokenizer_open(model_folder.c_str(), &raw); code != LB_OK) return Status::of(code);
    return Tokenizer(raw);
  }
  [[nodiscard]] std::size_t vocabulary_size() const { return lb_tokenizer_vocabulary_size(handle_.get()); }
  // The token of an id, valid as long as the tokenizer; std::nullopt when no token has this id.
  [[nodiscard]] std::optional<std::string_view> token(std::int32_t id) const {
    lb_text text{};
    if (lb_tokenizer_token(handle_.get(), id, &text) != LB_OK) return std::nullopt;
    return std::string_view(text.data, text.size);
  }
  // Encodes texts with special tokens and the model's default prompt, cut to `max_tokens`; 0 means the model's limit.
  [[nodiscard]] Result<TokenList> encode(std::span<const std::string_view> texts, std::size_t max_tokens = 0) const {
    const auto views = detail::c_texts(texts);
    lb_token_list* raw = nullptr;
    const lb_code code = lb_tokenizer_encode(handle_.get(), views.data(), views.size(), max_tokens, &raw);
    if (code != LB_OK) return Status::of(code);
    return TokenList(raw);
  }
  // Encodes texts as Encoder::encode() does, with max_tokens, refuse_longer, role, prompt and prompt_name of `options`.
  [[nodiscard]] Result<TokenList> encode(std::span<const std::string_view> texts, const EncodeOptions& options) const {
    const auto views = detail::c_texts(texts);
    const detail::CEncodeOptions o(options);
    lb_token_list* raw = nullptr;
    const lb_code code = lb_tokenizer_encode_with(handle_.get(), views.data(), views.size(), o.get(), &raw);
    if (code != LB_OK) return Status::of(code);
    return TokenList(raw);
  }
  // Also records where each token is in its text, counted from the prompt's beginning. Takes more time and memory.
  [[nodiscard]] Result<TokenList> encode_with_offsets(std::span<const std::string_view> texts,
                                                      const EncodeOptions& options = {}) const {
    const auto views = detail::c_texts(texts);
    const detail::CEncodeOptions o(options);
    lb_token_list* raw = nullptr;
    const lb_code code = lb_tokenizer_encode_with_offsets(handle_.get(), views.data(), views.size(), o.get(), &raw);
    if (code != LB_OK) return Status::of(code);
    return TokenList(raw);
  }

 private:
  friend class Encoder;
  explicit Tokenizer(lb_tokenizer* raw) : handle_(raw) {}
  detail::Handle<lb_tokenizer, lb_tokenizer_destroy> handle_;
};

// One row for each text: a vector, or its scores.
struct Rows {
  std::size_t count = 0;
  std::size_t dimension = 0;
  std::span<const float> values{};
  [[nodiscard]] std::span<const float> operator[](std::size_t i) const {
    return values.subspan(i * dimension, dimension);
  }
};

// A text's weights for entries of a vocabulary.
struct SparseVector {
  std::span<const std::uint32_t> indices;  // ascending
  std::span<const float> values;
};

// Results of one call, by output. A name that is empty means the first output that the call requested. The views of
// rows live as long as the results.
class ResultsView {
 public:
  explicit ResultsView(const lb_results* raw) : raw_(raw) {}

  // The number of texts or pairs.
  [[nodiscard]] std::size_t size() const { return lb_results_count(raw_); }
  // The number of computed tokens of each text.
  [[nodiscard]] std::span<const std::uint32_t> token_counts() const {
    const std::uint32_t* counts = nullptr;
    if (lb_results_token_counts(raw_, &counts) != LB_OK) return {};
    return {counts, size()};
  }
  [[nodiscard]] Result<Rows> dense(const std::string& output = {}) const { return rows(lb_results_dense, output); }
  [[nodiscard]] Result<Rows> scores(const std::string& output = {}) const { return rows(lb_results_scores, output); }
  [[nodiscard]] Result<lb_sparse_rows> sparse(const std::string& output = {}) const {
    return read<lb_sparse_rows>(lb_results_sparse, output);
  }
  [[nodiscard]] Result<lb_ragged_rows> ragged(const std::string& output = {}) const {
    return read<lb_ragged_rows>(lb_results_ragged, output);
  }

 private:
  template <class C>
  Result<C> read(lb_code (*how)(const lb_results*, const char*, C*), const std::string& output) const {
    C found{};
    const lb_code code = how(raw_, output.empty() ? nullptr : output.c_str(), &found);
    if (code != LB_OK) return Status::of(code);
    return found;
  }
  Result<Rows> rows(lb_code (*how)(const lb_results*, const char*, lb_dense_rows*), const std::string& output) const {
    const auto found = read<lb_dense_rows>(how, output);
    if (!found.ok()) return found.status();
    return Rows{found->count, found->dimension, {found->values, found->count * found->dimension}};
  }

  const lb_results* raw_;
};

class Results : public ResultsView {
 public:
  [[nodiscard]] const lb_results* get() const { return handle_.get(); }

 private:
  friend class Encoder;
  explicit Results(lb_results* raw) : ResultsView(raw), handle_(raw) {}
  detail::Handle<lb_results, lb_results_destroy> handle_;
};

// Consecutive texts of a stream; valid until the next pull.
struct Window {
  std::uint64_t first = 0;  // position of the window's first text
  std::size_t count = 0;    // 0 at the end of the stream
  ResultsView results{nullptr};
};

// Encodes an endless sequence of texts in bounded memory. One thread may push while another one pulls.
class Stream {
 public:
  // Returns how many texts were taken: fewer than given when windows must be pulled first.
  Result<std::size_t> push(std::span<const std::string_view> texts) {
    const auto views = detail::c_texts(texts);
    std::size_t taken = 0;
    const lb_code code = lb_stream_push(handle_.get(), views.data(), views.size(), &taken);
    if (code != LB_OK) return Status::of(code);
    return taken;
  }
  // Waits until there is room, for a thread that pushes while another one pulls.
  Status wait_for_room(const CallOptions& call = {}) {
    if (detail::is_late(call)) return Status::late();
    const lb_call_options c = detail::c_call(call);
    return Status::of(lb_stream_wait_for_room(handle_.get(), &c));
  }
  Status finish() { return Status::of(lb_stream_finish(handle_.get())); }
  Result<Window> pull(const CallOptions& call = {}) {
    if (detail::is_late(call)) return Status::late();
    const lb_call_options c = detail::c_call(call);
    auto window = detail::sized<lb_window>();
    if (const lb_code code = lb_stream_pull(handle_.get(), &c, &window); code != LB_OK) return Status::of(code);
    return Window{window.first, window.count, ResultsView(window.results)};
  }
  [[nodiscard]] Result<lb_encode_stats> stats() const {
    auto stats = detail::sized<lb_encode_stats>();
    if (const lb_code code = lb_stream_stats(handle_.get(), &stats); code != LB_OK) return Status::of(code);
    return stats;
  }

 private:
  friend class Encoder;
  explicit Stream(lb_stream* raw) : handle_(raw) {}
  detail::Handle<lb_stream, lb_stream_destroy> handle_;
};

// An output that calls can request (lb_output_info).
struct OutputInfo {
  std::string name;
  std::size_t dimension = 0;
  std::size_t dimension_max = 0;
  std::size_t entries_max = 0;
  std::int32_t form = LB_FORM_DENSE;
};

// A model that encodes texts, or pairs of texts. One pass gives all outputs that a call requests.
class Encoder {
 public:
  // The model's name, as in messages.
  [[nodiscard]] std::string name() const { return info().name; }
  // What it encodes: "text" or "pair".
  [[nodiscard]] std::string_view input() const { return info().input; }
  [[nodiscard]] bool has_routes() const { return info().has_routes != 0; }
  // Longer texts with this role are cut to this many tokens.
  [[nodiscard]] std::size_t max_tokens(Role role = Role::kDocument) const {
    const lb_encoder_info found = info();
    return role == Role::kQuery ? found.max_query_tokens : found.max_tokens;
  }
  [[nodiscard]] std::vector<OutputInfo> outputs() const {
    std::vector<OutputInfo> list(info().output_count);
    for (std::size_t i = 0; i < list.size(); ++i)
      list[i] = output(i);
    return list;
  }
  // The length of a row of the first output.
  [[nodiscard]] std::size_t dimension() const { return output(0).dimension; }
  // The most that EncodeOptions::dimensions accepts.
  [[nodiscard]] std::size_t dimension_max() const { return output(0).dimension_max; }
  // The names of a pair's scores; most ranking models have one.
  [[nodiscard]] std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    for (const OutputInfo& one : outputs()) {
      if (one.form == LB_FORM_SCORES) labels.resize(one.dimension);
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      lb_text label{};
      if (lb_encoder_label(handle_.get(), i, &label) == LB_OK) labels[i].assign(label.data, label.size);
    }
    return labels;
  }
  // The prompts of the model's files by name.
  [[nodiscard]] std::map<std::string, std::string> prompts() const {
    std::map<std::string, std::string> prompts;
    for (std::size_t i = 0; i < info().prompt_count; ++i) {
      lb_text name{};
      lb_text prompt{};
      if (lb_encoder_prompt(handle_.get(), i, &name, &prompt, nullptr) != LB_OK) break;
      prompts[std::string(name.data, name.size)].assign(prompt.data, prompt.size);
    }
    return prompts;
  }

  // Returns the results of options.outputs, or of all outputs, in the order of the texts.
  [[nodiscard]] Result<Results> encode(std::span<const std::string_view> texts, const EncodeOptions& options = {},
                                       const CallOptions& call = {}, lb_encode_stats* stats = nullptr) const {
    return run(lb_encoder_encode, detail::c_texts(texts), options, call, stats);
  }
  [[nodiscard]] Result<Results> encode_ids(std::span<const std::span<const std::int32_t>> texts,
                                           const EncodeOptions& options = {}, const CallOptions& call = {},
                                           lb_encode_stats* stats = nullptr) const {
    return run(lb_encoder_encode_ids, detail::c_texts(texts), options, call, stats);
  }
  [[nodiscard]] Result<Results> encode_pairs(std::span<const TextPair> pairs, const EncodeOptions& options = {},
                                             const CallOptions& call = {}, lb_encode_stats* stats = nullptr) const {
    return run(lb_encoder_encode_pairs, detail::c_texts(pairs), options, call, stats);
  }
  // Write the rows of the first output to `rows`, without a copy. options.outputs has no influence.
  Status encode_into(std::span<float> rows, std::span<const std::string_view> texts, const EncodeOptions& options = {},
                     const CallOptions& call = {}, lb_encode_stats* stats = nullptr) const {
    return write(lb_encoder_encode, rows, detail::c_texts(texts), options, call, stats);
  }
  Status encode_pairs_into(std::span<float> rows, std::span<const TextPair> pairs, const EncodeOptions& options = {},
                           const CallOptions& call = {}, lb_encode_stats* stats = nullptr) const {
    return write(lb_encoder_encode_pairs, rows, detail::c_texts(pairs), options, call, stats);
  }

  // Returns documents.count scores for each query; needs the output "multi_vector".
  [[nodiscard]] Result<std::vector<float>> compare(const lb_ragged_rows& queries, const lb_ragged_rows& documents,
                                                   const CallOptions& call = {}) const {
    if (detail::is_late(call)) return Status::late();
    const lb_call_options c = detail::c_call(call);
    std::vector<float> scores(queries.count * documents.count);
    const lb_code code = lb_encoder_compare(handle_.get(), &queries, &documents, &c, scores.data(), scores.size());
    if (code != LB_OK) return Status::of(code);
    return scores;
  }

  // 0 for window_texts or window_bytes chooses a value that suits the model.
  [[nodiscard]] Result<Stream> open_stream(const EncodeOptions& options = {}, std::size_t window_texts = 0,
                                           std::size_t window_bytes = 0) const {
    const detail::CEncodeOptions o(options);
    auto windows = detail::sized<lb_stream_options>();
    windows.window_texts = window_texts;
    windows.window_bytes = window_bytes;
    lb_stream* raw = nullptr;
    const lb_code code = lb_stream_open(handle_.get(), o.get(), &windows, &raw);
    if (code != LB_OK) return Status::of(code);
    return Stream(raw);
  }

  [[nodiscard]] Result<Tokenizer> tokenizer() const {
    lb_tokenizer* raw = nullptr;
    if (const lb_code code = lb_encoder_tokenizer(handle_.get(), &raw); code != LB_OK) return Status::of(code);
    return Tokenizer(raw);
  }

  [[nodiscard]] Result<Attestation> attestation() const {
    lb_attestation* raw = nullptr;
    const lb_code code = lb_encoder_attestation(handle_.get(), &raw);
    return detail::read_attestation(code, raw);
  }

  [[nodiscard]] const lb_encoder* get() const { return handle_.get(); }

 private:
  friend class Runtime;
  explicit Encoder(lb_encoder* raw) : handle_(raw) {}

  [[nodiscard]] lb_encoder_info info() const {
    auto found = detail::sized<lb_encoder_info>();
    found.name = found.input = "";
    static_cast<void>(lb_encoder_describe(handle_.get(), &found));
    return found;
  }
  [[nodiscard]] OutputInfo output(std::size_t index) const {
    auto found = detail::sized<lb_output_info>();
    if (lb_encoder_output(handle_.get(), index, &found) != LB_OK) return {};
    return {found.name, found.dimension, found.dimension_max, found.entries_max, found.form};
  }

  template <class Text>
  using Function = lb_code (*)(const lb_encoder*, const Text*, std::size_t, const lb_encode_options*,
                               const lb_call_options*, lb_results**, lb_encode_stats*);
  template <class Text>
  Result<Results> run(Function<Text> function, const std::vector<Text>& texts, const EncodeOptions& options,
                      const CallOptions& call, lb_encode_stats* stats) const {
    if (detail::is_late(call)) return Status::late();
    const detail::CEncodeOptions o(options);
    const lb_call_options c = detail::c_call(call);
    lb_results* raw = nullptr;
    const lb_code code = function(handle_.get(), texts.data(), texts.size(), o.get(), &c, &raw, stats);
    if (code != LB_OK) return Status::of(code);
    return Results(raw);
  }
  template <class Text>
  Status write(Function<Text> function, std::span<float> rows, const std::vector<Text>& texts,
               const EncodeOptions& options, const CallOptions& call, lb_encode_stats* stats) const {
    if (detail::is_late(call)) return Status::late();
    const detail::CEncodeOptions o(options, rows);
    const lb_call_options c = detail::c_call(call);
    return Status::of(function(handle_.get(), texts.data(), texts.size(), o.get(), &c, nullptr, stats));
  }

  detail::Handle<lb_encoder, lb_encoder_destroy> handle_;
};

// An encoder with the output "dense": gives a vector for each text.
class Embedder {
 public:
  [[nodiscard]] const Encoder& encoder() const { return encoder_; }
  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::size_t max_tokens() const { return encoder_.max_tokens(); }

  // Returns rows of dimension() floats, or as many as the options say, in the order of the texts.
  [[nodiscard]] Result<std::vector<float>> embed(std::span<const std::string_view> texts,
                                                 const EncodeOptions& options = {}, const CallOptions& call = {},
                                                 lb_encode_stats* stats = nullptr) const {
    // The C function refuses more dimensions than the model has before it writes anything.
    const std::size_t columns = options.dimensions > 0 ? (std::min)(options.dimensions, dimension_max_) : dimension_;
    std::vector<float> vectors(texts.size() * columns);
    if (Status status = encoder_.encode_into(vectors, texts, options, call, stats); !status.ok()) return status;
    return vectors;
  }
  [[nodiscard]] Result<std::vector<float>> embed(std::string_view text, const EncodeOptions& options = {},
                                                 const CallOptions& call = {}) const {
    return embed({&text, 1}, options, call);
  }

  [[nodiscard]] Result<Stream> open_stream(const EncodeOptions& options = {}, std::size_t window_texts = 0,
                                           std::size_t window_bytes = 0) const {
    return encoder_.open_stream(options, window_texts, window_bytes);
  }
  [[nodiscard]] Result<Tokenizer> tokenizer() const { return encoder_.tokenizer(); }
  [[nodiscard]] Result<Attestation> attestation() const { return encoder_.attestation(); }

 private:
  friend class Runtime;
  explicit Embedder(Encoder encoder)
      : encoder_(std::move(encoder)), dimension_(encoder_.dimension()), dimension_max_(encoder_.dimension_max()) {}
  Encoder encoder_;
  std::size_t dimension_;
  std::size_t dimension_max_;
};

// An encoder with the output "score": scores two texts together, such as a query and a document.
class CrossEncoder {
 public:
  [[nodiscard]] const Encoder& encoder() const { return encoder_; }
  // The names of a pair's scores; most ranking models have one.
  [[nodiscard]] const std::vector<std::string>& labels() const { return labels_; }
  [[nodiscard]] std::size_t max_tokens() const { return encoder_.max_tokens(); }

  // Returns labels().size() scores for each pair, in the order of the pairs.
  [[nodiscard]] Result<std::vector<float>> score(std::span<const TextPair> pairs, const EncodeOptions& options = {},
                                                 const CallOptions& call = {}, lb_encode_stats* stats = nullptr) const {
    std::vector<float> scores(pairs.size() * labels_.size());
    if (Status status = encoder_.encode_pairs_into(scores, pairs, options, call, stats); !status.ok()) return status;
    return scores;
  }
  [[nodiscard]] Result<Attestation> attestation() const { return encoder_.attestation(); }

 private:
  friend class Runtime;
  explicit CrossEncoder(Encoder encoder) : encoder_(std::move(encoder)), labels_(encoder_.labels()) {}
  Encoder encoder_;
  std::vector<std::string> labels_;
};

// The sparse vectors of several texts.
class SparseVectors {
 public:
  [[nodiscard]] std::size_t size() const { return rows_.count; }
  // The spans live as long as this object.
  [[nodiscard]] SparseVector operator[](std::size_t i) const {
    const std::size_t begin = rows_.begins[i];
    const std::size_t count = rows_.begins[i + 1] - begin;
    return {{rows_.indices + begin, count}, {rows_.values + begin, count}};
  }

 private:
  friend class SparseEncoder;
  SparseVectors(Results results, const lb_sparse_rows& rows) : results_(std::move(results)), rows_(rows) {}
  Results results_;
  lb_sparse_rows rows_;
};

// An encoder with the output "sparse": gives texts weights for the entries of a vocabulary (SPLADE).
class SparseEncoder {
 public:
  [[nodiscard]] const Encoder& encoder() const { return encoder_; }
  [[nodiscard]] std::size_t vocabulary_size() const { return encoder_.dimension(); }
  [[nodiscard]] std::size_t max_tokens() const { return encoder_.max_tokens(); }

  // In the order of the texts.
  [[nodiscard]] Result<SparseVectors> encode(std::span<const std::string_view> texts, const EncodeOptions& options = {},
                                             const CallOptions& call = {}, lb_encode_stats* stats = nullptr) const {
    auto results = encoder_.encode(texts, options, call, stats);
    if (!results.ok()) return results.status();
    const auto rows = results->sparse();
    if (!rows.ok()) return rows.status();
    return SparseVectors(*std::move(results), *rows);
  }
  [[nodiscard]] Result<Tokenizer> tokenizer() const { return encoder_.tokenizer(); }
  [[nodiscard]] Result<Attestation> attestation() const { return encoder_.attestation(); }

 private:
  friend class Runtime;
  explicit SparseEncoder(Encoder encoder) : encoder_(std::move(encoder)) {}
  Encoder encoder_;
};

// The token vectors of several texts.
class MultiVectors {
 public:
  [[nodiscard]] std::size_t size() const { return rows_.count; }
  [[nodiscard]] std::size_t dimension() const { return rows_.dimension; }
  // The vectors of one text, one after the other, dimension() floats each. The span lives as long as this object.
  [[nodiscard]] std::span<const float> operator[](std::size_t i) const {
    const std::size_t begin = rows_.begins[i] * rows_.dimension;
    return {rows_.vectors + begin, rows_.begins[i + 1] * rows_.dimension - begin};
  }
  [[nodiscard]] const lb_ragged_rows& rows() const { return rows_; }

 private:
  friend class MultiVectorEncoder;
  MultiVectors(Results results, const lb_ragged_rows& rows) : results_(std::move(results)), rows_(rows) {}
  Results results_;
  lb_ragged_rows rows_;
};

// An encoder with the output "multi_vector": gives a text one vector for each token (late interaction, ColBERT), and
// scores documents for queries with them.
class MultiVectorEncoder {
 public:
  [[nodiscard]] const Encoder& encoder() const { return encoder_; }
  [[nodiscard]] std::size_t dimension() const { return encoder_.dimension(); }
  [[nodiscard]] std::size_t max_tokens(Role role) const { return encoder_.max_tokens(role); }

  // Returns the vectors in the order of the texts.
  [[nodiscard]] Result<MultiVectors> encode(std::span<const std::string_view> texts, const EncodeOptions& options = {},
                                            const CallOptions& call = {}, lb_encode_stats* stats = nullptr) const {
    auto results = encoder_.encode(texts, options, call, stats);
    if (!results.ok()) return results.status();
    const auto rows = results->ragged();
    if (!rows.ok()) return rows.status();
    return MultiVectors(*std::move(results), *rows);
  }
  // Returns documents.count scores for each query.
  [[nodiscard]] Result<std::vector<float>> compare(const lb_ragged_rows& queries, const lb_ragged_rows& documents,
                                                   const CallOptions& call = {}) const {
    return encoder_.compare(queries, documents, call);
  }
  [[nodiscard]] Result<Tokenizer> tokenizer() const { return encoder_.tokenizer(); }
  [[nodiscard]] Result<Attestation> attestation() const { return encoder_.attestation(); }

 private:
  friend class Runtime;
  explicit MultiVectorEncoder(Encoder encoder) : encoder_(std::move(encoder)) {}
  Encoder encoder_;
};

struct JobProgress {
  bool is_over = false;
  std::uint64_t done = 0;   // bytes while "loading", otherwise steps
  std::uint64_t total = 0;  // 0 while unknown
  std::string activity;
};

// A command of the program that runs on its own thread. The destructor cancels the job without waiting.
class Job {
 public:
  // Waits until the job is over or the time has passed, and returns the progress.
  Result<JobProgress> wait(std::chrono::milliseconds timeout) const {
    auto progress = detail::sized<lb_job_progress>();
    const auto ms = static_cast<std::uint64_t>(timeout.count() < 0 ? 0 : timeout.count());
    const lb_code code = lb_job_wait(handle_.get(), ms, &progress);
    if (code != LB_OK && code != LB_DEADLINE_EXCEEDED) return Status::of(code);
    return JobProgress{progress.is_over != 0, progress.done, progress.total, progress.activity};
  }
  void cancel() const { lb_job_cancel(handle_.get()); }
  // The report as JSON, also of a failed job. It is "" when the job has no report or is still running.
  [[nodiscard]] std::string report() const {
    const char* text = "";
    static_cast<void>(lb_job_result(handle_.get(), &text));
    return text;
  }
  // The report of a successful job, else the job's error.
  [[nodiscard]] Result<std::string> result() const {
    const char* report = "";
    if (const lb_code code = lb_job_result(handle_.get(), &report); code != LB_OK) return Status::of(code);
    return std::string(report);
  }

 private:
  friend class Runtime;
  explicit Job(lb_job* raw) : handle_(raw) {}
  detail::Handle<lb_job, lb_job_destroy> handle_;
};

class Runtime {
 public:
  static Result<Runtime> create(const Options& options = {}) {
    if (!options.status().ok()) return options.status();
    lb_runtime* raw = nullptr;
    if (const lb_code code = lb_runtime_create(options.get(), &raw); code != LB_OK) return Status::of(code);
    return Runtime(raw);
  }

  // Asks every backend. `virtual_too` adds devices that are not in this machine but can be compiled for.
  [[nodiscard]] Result<Devices> devices(bool virtual_too = false) const {
    lb_device_list* raw = nullptr;
    if (const lb_code code = lb_device_list_create(handle_.get(), virtual_too ? 1 : 0, &raw); code != LB_OK) {
      return Status::of(code);
    }
    return detail::read_devices(raw);
  }

  // The devices that these words mean as targets of the job "compile", in the same order (lb_device_list_targets).
  [[nodiscard]] Result<std::vector<Device>> targets(std::span<const std::string> words) const {
    std::vector<const char*> c;
    for (const std::string& word : words)
      c.push_back(word.c_str());
    lb_device_list* raw = nullptr;
    if (const lb_code code = lb_device_list_targets(handle_.get(), c.data(), c.size(), &raw); code != LB_OK) {
      return Status::of(code);
    }
    auto found = detail::read_devices(raw);
    if (!found.ok()) return found.status();
    return std::move(found->devices);
  }

  // Ok when some device of this machine can run models. Otherwise says what to install, and why each backend is not
  // available.
  [[nodiscard]] Status check() const { return Status::of(lb_runtime_check(handle_.get())); }

  // Loads a model in memory, of any format (LB_FORMAT_BY_FIRST_BYTES). The bytes are used in place; `owner`, which may
  // be null, is kept until the last use. `name` appears in messages.
  [[nodiscard]] Result<Model> load(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                   const Options& options = {}, const std::string& name = {},
                                   const CallOptions& call = {}) const {
    if (detail::is_late(call)) return Status::late();
    if (!options.status().ok()) return options.status();
    auto memory = detail::sized<lb_model_memory>();
    memory.format = LB_FORMAT_BY_FIRST_BYTES;
    memory.graph = bytes.data();
    memory.graph_size = bytes.size();
    memory.context = new std::shared_ptr<const void>(std::move(owner));
    memory.release = [](void* context) { delete static_cast<std::shared_ptr<const void>*>(context); };
    if (!name.empty()) memory.name = name.c_str();
    const lb_call_options c = detail::c_call(call);
    lb_model* raw = nullptr;
    const lb_code code = lb_model_load_memory(handle_.get(), &memory, options.get(), &c, &raw);
    if (code != LB_OK) return Status::of(code);
    return Model(raw);
  }

  // Loads an ONNX model, an OpenVINO IR or a bundle.
  [[nodiscard]] Result<Model> load(const std::string& file, const Options& options = {},
                                   const CallOptions& call = {}) const {
    return open<Model, lb_model>(lb_model_load_file, file, options, call);
  }

  // Opens a model folder.
  [[nodiscard]] Result<Encoder> open_encoder(const std::string& model_folder, const Options& options = {},
                                             const EncoderOptions& of_encoder = {},
                                             const CallOptions& call = {}) const {
    std::vector<const char*> outputs;
    for (const std::string& name : of_encoder.outputs)
      outputs.push_back(name.c_str());
    auto o = detail::sized<lb_encoder_options>();
    o.outputs = outputs.empty() ? nullptr : outputs.data();
    o.output_count = outputs.size();
    o.role = static_cast<std::int32_t>(of_encoder.role);
    const auto how = [&o](const lb_runtime* runtime, const char* folder, const lb_options* settings,
                          const lb_call_options* c,
                          lb_encoder** made) { return lb_encoder_open(runtime, folder, settings, &o, c, made); };
    return open<Encoder, lb_encoder>(how, model_folder, options, call);
  }

  // Opens a model that gives vectors of texts.
  [[nodiscard]] Result<Embedder> open_embedder(const std::string& model_folder, const Options& options = {},
                                               const CallOptions& call = {}) const {
    return view<Embedder>("dense", model_folder, options, call);
  }

  // Opens a model that scores two texts together.
  [[nodiscard]] Result<CrossEncoder> open_cross_encoder(const std::string& model_folder, const Options& options = {},
                                                        const CallOptions& call = {}) const {
    return view<CrossEncoder>("score", model_folder, options, call);
  }

  // Opens a model that gives texts sparse vectors.
  [[nodiscard]] Result<SparseEncoder> open_sparse_encoder(const std::string& model_folder, const Options& options = {},
                                                          const CallOptions& call = {}) const {
    return view<SparseEncoder>("sparse", model_folder, options, call);
  }

  // Opens a model that gives each token of a text a vector.
  [[nodiscard]] Result<MultiVectorEncoder> open_multi_vector_encoder(const std::string& model_folder,
                                                                     const Options& options = {},
                                                                     const CallOptions& call = {}) const {
    return view<MultiVectorEncoder>("multi_vector", model_folder, options, call);
  }

  // Starts a job. `arguments` is a JSON object.
  [[nodiscard]] Result<Job> start(const std::string& job, const std::string& arguments,
                                  const Options& options = {}) const {
    if (!options.status().ok()) return options.status();
    lb_job* raw = nullptr;
    const lb_code code = lb_job_start(handle_.get(), job.c_str(), arguments.c_str(), options.get(), &raw);
    if (code != LB_OK) return Status::of(code);
    return Job(raw);
  }

  [[nodiscard]] lb_runtime* get() const { return handle_.get(); }

 private:
  // `how` is lb_model_load_file, or calls lb_encoder_open.
  template <class Object, class Raw, class How>
  Result<Object> open(const How& how, const std::string& file, const Options& options, const CallOptions& call) const {
    if (!options.status().ok()) return options.status();
    if (detail::is_late(call)) return Status::late();
    const lb_call_options c = detail::c_call(call);
    Raw* raw = nullptr;
    if (const lb_code code = how(handle_.get(), file.c_str(), options.get(), &c, &raw); code != LB_OK) {
      return Status::of(code);
    }
    return Object(raw);
  }
  // Opens an encoder with one output, as a view of it.
  template <class View>
  Result<View> view(const char* output, const std::string& model_folder, const Options& options,
                    const CallOptions& call) const {
    auto encoder = open_encoder(model_folder, options, {.outputs = {output}}, call);
    if (!encoder.ok()) return encoder.status();
    return View(*std::move(encoder));
  }

  explicit Runtime(lb_runtime* raw) : handle_(raw) {}
  detail::Handle<lb_runtime, lb_runtime_destroy> handle_;
};

}  // namespace latebind

#endif
#endif  // LATEBIND_LATEBIND_HPP
