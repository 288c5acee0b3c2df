// A fake libonnxruntime: one model, whose input x and output y are f32 [n], and y = x + 1.
//
// Built into variants by definitions (below). Everything else is told by latebind_fake_state(). Each object made is
// counted against its release.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "backends/onnxruntime/abi.h"
#include "tests/fakes/fake_onnxruntime_state.h"
#include "tests/support/export.h"

// The version that it claims.
#ifndef FAKE_VERSION
#define FAKE_VERSION "1.31.1"
#endif
// 0: it answers no version of the interface.
#ifndef FAKE_HAS_API
#define FAKE_HAS_API 1
#endif
// 0: it has no interface at all.
#ifndef FAKE_HAS_BASE
#define FAKE_HAS_BASE 1
#endif
// A slot that is left empty. None needs slot 0.
#ifndef FAKE_MISSING_SLOT
#define FAKE_MISSING_SLOT 0
#endif
#ifndef FAKE_ENTRY
#define FAKE_ENTRY OrtGetApiBase
#endif

namespace latebind::onnxruntime::abi {

namespace {

fake::OnnxruntimeState g_state;
std::mutex g_mutex;
std::condition_variable g_stopped;
std::atomic<int> g_env_alive{0};

}  // namespace

// Every object counts itself.
struct Counted {
  Counted() {
    ++g_state.alive;
    ++g_state.made;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --g_state.alive; }
};

struct Status : Counted {
  int code = 0;
  std::string text;
};
struct Env : Counted {};
struct MemoryInfo : Counted {};
struct SessionOptions : Counted {};
struct Session : Counted {
  bool static_output = g_state.static_output;
};
struct RunOptions : Counted {
  bool terminate = false;  // guarded by g_mutex
};
struct TensorTypeAndShapeInfo : Counted {
  TensorElementDataType type = kFloat;
  std::vector<std::int64_t> dims;
};
struct TypeInfo : Counted {
  TensorTypeAndShapeInfo tensor;
};
struct Value : Counted {
  TensorElementDataType type = kFloat;
  std::vector<std::int64_t> dims;
  void* data = nullptr;
  std::vector<float> owned;
};
struct Allocator {};

namespace {

Allocator g_allocator;

Status* fail(int code, const std::string& text) {
  auto* status = new Status;
  status->code = code;
  status->text = text;
  return status;
}

template <class T>
Status* make(T** out) {
  *out = new T;
  return nullptr;
}

template <class T>
void release(T* object) {
  delete object;
}

// --- the functions ---

ErrorCode get_error_code(const Status* status) {
  return static_cast<ErrorCode>(status->code);
}
const char* get_error_message(const Status* status) {
  return status->text.c_str();
}

Status* create_env(LoggingFunction log, void* param, LoggingLevel, const char*, Env** out) {
  if (g_state.env_fails) return fail(kFail, "the fake has no environment today");
  ++g_state.envs;
  ++g_env_alive;
  *out = new Env;
  log(param, kLogWarning, "fake", "id", "here", "the fake\nwarns");
  return nullptr;
}
void release_env(Env* env) {
  --g_env_alive;
  delete env;
}
Status* disable_telemetry(const Env*) {
  g_state.telemetry = 0;
  return nullptr;
}

Status* create_session(Session** out) {
  if (g_state.no_threads) return fail(1, "CreateSession: pthread_create failed, error code: 11 error msg: ");
  if (g_state.session_code != 0) return fail(g_state.session_code, "the fake refuses this model");
  return make(out);
}
Status* create_session_from_file(const Env*, const PathChar*, const SessionOptions*, Session** out) {
  return create_session(out);
}
Status* create_session_from_array(const Env*, const void*, std::size_t, const SessionOptions*, Session** out) {
  return create_session(out);
}
void release_session(Session* session) {
  if (g_env_alive == 0) g_state.wrong_order = true;
  delete session;
}

Status* take_path(SessionOptions*, const PathChar*) {
  return nullptr;
}
Status* take_mode(SessionOptions*, ExecutionMode) {
  return nullptr;
}
Status* take_nothing(SessionOptions*) {
  return nullptr;
}
Status* take_level(SessionOptions*, GraphOptimizationLevel) {
  return nullptr;
}
Status* take_number(SessionOptions*, int) {
  return nullptr;
}
Status* take_dimension(SessionOptions*, const char*, std::int64_t) {
  return nullptr;
}
Status* take_entry(SessionOptions*, const char* key, const char*) {
  if (std::strcmp(key, "refused") == 0) return fail(kInvalidArgument, "the fake does not know that key");
  return nullptr;
}
Status* take_initializers(SessionOptions*, const char* const*, const Value* const*, std::size_t) {
  return nullptr;
}
Status* take_files(SessionOptions*, const PathChar* const*, char* const*, const std::size_t*, std::size_t) {
  return nullptr;
}

Status* count_one(const Session*, std::size_t* out) {
  *out = 1;
  return nullptr;
}
Status* input_type(const Session*, std::size_t, TypeInfo** out) {
  *out = new TypeInfo;
  (*out)->tensor.type = static_cast<TensorElementDataType>(g_state.input_type.load());
  (*out)->tensor.dims.assign(static_cast<std::size_t>(g_state.input_rank.load()), -1);
  return nullptr;
}
Status* output_type(const Session* session, std::size_t, TypeInfo** out) {
  *out = new TypeInfo;
  (*out)->tensor.dims = {session->static_output ? 3 : -1};
  return nullptr;
}
Status* give_name(const char* name, char** out) {
  *out = new char[2];
  std::memcpy(*out, name, 2);
  ++g_state.alive;
  return nullptr;
}
Status* input_name(const Session*, std::size_t, Allocator*, char** out) {
  return give_name("x", out);
}
Status* output_name(const Session*, std::size_t, Allocator*, char** out) {
  return give_name("y", out);
}
Status* allocator_free(Allocator*, void* data) {
  delete[] static_cast<char*>(data);
  --g_state.alive;
  return nullptr;
}
Status* default_allocator(Allocator** out) {
  *out = &g_allocator;
  return nullptr;
}

Status* value_type(const TypeInfo*, ValueType* out) {
  *out = kTensorValue;
  return nullptr;
}
Status* tensor_info(const TypeInfo* type, const TensorTypeAndShapeInfo** out) {
  *out = &type->tensor;
  return nullptr;
}
Status* element_type(const TensorTypeAndShapeInfo* info, TensorElementDataType* out) {
  *out = info->type;
  return nullptr;
}
Status* dimension_count(const TensorTypeAndShapeInfo* info, std::size_t* out) {
  *out = info->dims.size();
  return nullptr;
}
Status* dimensions(const TensorTypeAndShapeInfo* info, std::int64_t* out, std::size_t count) {
  std::memcpy(out, info->dims.data(), count * sizeof(std::int64_t));
  return nullptr;
}
Status* dimension_names(const TensorTypeAndShapeInfo*, const char** out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = "n";
  return nullptr;
}

Status* create_tensor(const MemoryInfo*, void* data, std::size_t, const std::int64_t* dims, std::size_t rank,
                      TensorElementDataType type, Value** out) {
  *out = new Value;
  (*out)->data = data;
  (*out)->dims.assign(dims, dims + rank);
  (*out)->type = type;
  return nullptr;
}
Status* is_tensor(const Value*, int* out) {
  *out = 1;
  return nullptr;
}
Status* tensor_data(Value* value, void** out) {
  *out = value->data;
  return nullptr;
}
Status* value_info(const Value* value, TensorTypeAndShapeInfo** out) {
  *out = new TensorTypeAndShapeInfo;
  (*out)->type = value->type;
  (*out)->dims = value->dims;
  return nullptr;
}

Status* terminate(RunOptions* options) {
  {
    const std::lock_guard lock(g_mutex);
    options->terminate = true;
  }
  g_stopped.notify_all();
  return nullptr;
}

Status* run(Session*, const RunOptions* options, const char* const*, const Value* const* inputs, std::size_t,
            const char* const*, std::size_t, Value** outputs) {
  ++g_state.running;
  if (g_state.run_hangs) {
    std::unique_lock lock(g_mutex);
    const auto is_over = [&] { return g_state.stop_is_ignored ? !g_state.run_hangs : options->terminate; };
    // A test does not tell that it changed its mind.
    while (!is_over())
      g_stopped.wait_for(lock, std::chrono::milliseconds(2));
  }
  if (!g_state.stop_is_ignored) {
    const std::lock_guard lock(g_mutex);
    if (options->terminate) return fail(kFail, "Exiting due to terminate flag being set to true.");
  }
  if (g_state.run_failures != 0) {
    if (g_state.run_failures > 0) --g_state.run_failures;
    return fail(g_state.run_code, "the fake does not run this time");
  }
  if (g_state.output_is_null) return nullptr;
  if (outputs[0] == nullptr) {
    auto* value = new Value;
    value->dims = inputs[0]->dims;
    value->owned.resize(static_cast<std::size_t>(value->dims[0]));
    value->data = value->owned.data();
    outputs[0] = value;
  }
  if (g_state.output_has_wrong_type) outputs[0]->type = kInt64;
  const auto* from = static_cast<const float*>(inputs[0]->data);
  auto* to = static_cast<float*>(outputs[0]->data);
  for (std::int64_t i = 0; i < inputs[0]->dims[0]; ++i)
    to[i] = from[i] + 1;
  return nullptr;
}

Status* memory_info(AllocatorType, MemType, MemoryInfo** out) {
  return make(out);
}
Status* providers(char*** out, int* count) {
  if (g_state.no_providers) return fail(kFail, "the fake has no list");
  *out = new char* [2] { new char[10], new char[10] };
  std::memcpy((*out)[0], "FirstFake", 10);
  std::memcpy((*out)[1], "OtherFake", 10);
  *count = 2;
  ++g_state.alive;
  return nullptr;
}
Status* release_providers(char** names, int count) {
  for (int i = 0; i < count; ++i)
    delete[] names[i];
  delete[] names;
  --g_state.alive;
  return nullptr;
}

constexpr std::size_t kSlots = 432;

void put(std::vector<Slot>& table, std::size_t slot, auto* function) {
  table[slot] = reinterpret_cast<Slot>(function);
}

std::vector<Slot> make_table() {
  std::vector<Slot> table(kSlots, nullptr);
  put(table, 1, get_error_code);
  put(table, 2, get_error_message);
  put(table, 4, create_env);
  put(table, 6, disable_telemetry);
  put(table, 7, create_session_from_file);
  put(table, 8, create_session_from_array);
  put(table, 9, run);
  put(table, 10, make<SessionOptions>);
  put(table, 11, take_path);
  put(table, 13, take_mode);
  put(table, 17, take_nothing);
  put(table, 23, take_level);
  put(table, 24, take_number);
  put(table, 25, take_number);
  put(table, 30, count_one);
  put(table, 31, count_one);
  put(table, 33, input_type);
  put(table, 34, output_type);
  put(table, 36, input_name);
  put(table, 37, output_name);
  put(table, 39, make<RunOptions>);
  put(table, 46, terminate);
  put(table, 49, create_tensor);
  put(table, 50, is_tensor);
  put(table, 51, tensor_data);
  put(table, 55, tensor_info);
  put(table, 56, value_type);
  put(table, 60, element_type);
  put(table, 61, dimension_count);
  put(table, 62, dimensions);
  put(table, 63, dimension_names);
  put(table, 65, value_info);
  put(table, 69, memory_info);
  put(table, 76, allocator_free);
  put(table, 78, default_allocator);
  put(table, 92, release_env);
  put(table, 93, release<Status>);
  put(table, 94, release<MemoryInfo>);
  put(table, 95, release_session);
  put(table, 96, release<Value>);
  put(table, 97, release<RunOptions>);
  put(table, 98, release<TypeInfo>);
  put(table, 99, release<TensorTypeAndShapeInfo>);
  put(table, 100, release<SessionOptions>);
  put(table, 124, take_dimension);
  put(table, 125, providers);
  put(table, 126, release_providers);
  put(table, 130, take_entry);
  put(table, 210, take_initializers);
  put(table, 279, take_files);
  table[FAKE_MISSING_SLOT] = nullptr;
  return table;
}

const Slot* get_api(std::uint32_t version) {
  g_state.asked_version = version;
  static const std::vector<Slot> table = make_table();
  return FAKE_HAS_API ? table.data() : nullptr;
}

const char* get_version() {
  return FAKE_VERSION;
}

}  // namespace
}  // namespace latebind::onnxruntime::abi

LB_TEST_EXPORT latebind::fake::OnnxruntimeState* latebind_fake_state() {
  return &latebind::onnxruntime::abi::g_state;
}

LB_TEST_EXPORT const latebind::onnxruntime::abi::ApiBase* FAKE_ENTRY() {
  static const latebind::onnxruntime::abi::ApiBase base{latebind::onnxruntime::abi::get_api,
                                                        latebind::onnxruntime::abi::get_version};
  return FAKE_HAS_BASE ? &base : nullptr;
}
