// The inside of the fake OpenVINO library: its script, its accounts and its objects. One lock guards all of it; the
// fake is for being right, not for being fast.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/openvino/abi.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace latebind::fake {

// Never freed, since a thread that hangs may outlive everything else; and no leak when the library is closed.
template <class T>
T* kept(T* object) {
#if defined(__SANITIZE_ADDRESS__)
  __lsan_ignore_object(object);
#endif
  return object;
}

namespace abi = openvino::abi;

using Dims = std::vector<std::int64_t>;

// --- The script ---

// What a directive is about: a device, or every one, and some of the calls.
struct Scope {
  std::string device;  // "NPU", which is "NPU.0" too; empty: any
  std::uint64_t first = 1;
  std::uint64_t last = UINT64_MAX;

  [[nodiscard]] bool covers(const std::string& name) const;
  // Calls are counted by device where a device is named.
  [[nodiscard]] bool covers(const std::string& name, std::uint64_t call, std::uint64_t call_on_device) const;
};

struct Failure {
  std::string function;
  Scope scope;
  abi::Code code = -1;
  std::string text;
  bool silent = false;
};

struct ShapeFailure {
  Scope scope;
  bool compiling = false;
  bool spoils = false;
  Dims dims;
  abi::Code code = -1;
  std::string text;
};

struct Slowness {
  std::string function;
  Scope scope;
  int ms = 0;
};

struct Hang {
  Scope scope;
  bool cancellable = false;
};

// Faults that a seed chooses: the same ones for the same runs, whenever these come.
struct Chance {
  Scope scope;
  std::uint64_t seed = 0;
  std::uint64_t permille = 0;
  std::vector<std::string> kinds;

  // What befalls this run; empty: nothing.
  [[nodiscard]] std::string fault_of(const std::string& device, std::uint64_t run) const;
};

struct Script {
  std::string version = "2026.4.1-fake";
  bool old_numbering = false;
  std::vector<std::string> devices;
  std::vector<std::string> registered;  // compiled for, though they are not listed
  std::map<std::string, std::map<std::string, std::string>> properties;
  std::vector<Failure> failures;
  std::vector<ShapeFailure> shape_failures;
  std::vector<Slowness> slow;
  std::vector<Hang> hangs;
  std::vector<Scope> wrong_shape;
  std::vector<Scope> wrong_rank;
  std::vector<Scope> not_finite;
  std::vector<Scope> wrong_numbers;
  std::size_t encoder = 0;  // the size of its vectors; 0: an IR is refused
  std::vector<std::pair<Scope, std::string>> precisions;
  std::vector<Chance> chances;
  std::vector<std::string> refused_properties;
  bool cut_exports = false;

  // As the file is now.
  static Script read() { return *current(); }
  static std::shared_ptr<const Script> current();

  [[nodiscard]] bool lists(const std::string& device) const;
};

// --- Accounts ---

// Every call of a function passes here first: it is counted, delayed, and perhaps failed.
struct Entry {
  std::uint64_t call = 0;            // which one it is, from 1
  std::uint64_t call_on_device = 0;  // the same, of those on this device
  std::optional<abi::Code> code;     // set when it fails
};
Entry enter_on(const char* function, const std::string& device);
inline std::optional<abi::Code> enter(const char* function) {
  return enter_on(function, {}).code;
}
// "NPU" for "NPU.4000".
std::string base_of(const std::string& device);
// Records the text of a failure, as the real library does, and gives the code back.
abi::Code fail(abi::Code code, const std::string& text);
std::string last_text();

void born(const char* kind, const void* object);
// False, and an entry in the list of defects, when it is not alive.
bool dies(const char* kind, const void* object);
bool is_alive(const char* kind, const void* object);
void defect(const std::string& what);

// --- Models and runs ---

enum class Op { kAdd, kIdentity, kPlusOne, kNonZero, kFirstRows, kScale, kEncode };

struct Dimension {
  std::int64_t least = 0;
  std::int64_t most = 0;  // -1: no bound
  [[nodiscard]] bool is_static() const { return least == most; }
};

struct Port {
  std::string name;
  std::string type;
  std::vector<Dimension> shape;
};

struct Output {
  std::string name;
  Op op = Op::kAdd;
  std::size_t input = 0;
  std::int64_t size = 0;  // of kEncode's vectors
};

struct Network {
  std::string text;
  std::vector<Port> inputs;
  std::vector<Output> outputs;
  const float* weights = nullptr;  // the caller's memory

  // Nothing, with the reason recorded, when it is no fake-model.
  static std::optional<Network> parse(const std::string& text);
  [[nodiscard]] Port output_port(std::size_t i) const;
};

// What a run left behind for all that come after it on the same compiled model.
struct Spoiled {
  std::mutex mutex;
  std::optional<std::pair<abi::Code, std::string>> failure;  // guarded by mutex
};

struct TensorData {
  std::string type;
  Dims dims;
  std::byte* data = nullptr;  // the caller's memory, or `owned`
  std::vector<std::byte> owned;
};

std::size_t size_of(const std::string& type);
std::size_t bytes_of(const std::string& type, const Dims& dims);
abi::ElementCode code_of(const std::string& type, bool old_numbering);
std::string type_of(abi::ElementCode code, bool old_numbering);

// Computes output `i`; `precision` is what f32 is rounded to.
TensorData compute(const Network& network, std::size_t i, const std::vector<std::shared_ptr<TensorData>>& inputs,
                   const std::string& precision);

}  // namespace latebind::fake

// The vendor's opaque types, filled in.
namespace latebind::openvino::abi {

struct Core {
  std::mutex mutex;
  std::map<std::string, std::map<std::string, std::string>> properties;  // by device; guarded by mutex
  std::atomic<int> children = 0;                                         // models and compiled models alive
};

struct Model {
  fake::Network network;
  const Core* core = nullptr;
};

struct CompiledModel {
  fake::Network network;
  std::string device;
  std::map<std::string, std::string> properties;
  std::string precision;  // decided when it is compiled, and kept
  Core* core = nullptr;
  std::atomic<int> requests = 0;
  std::shared_ptr<fake::Spoiled> spoiled = std::make_shared<fake::Spoiled>();
};

struct ConstPort {
  fake::Port port;
};

struct Tensor {
  std::shared_ptr<fake::TensorData> data;
};

// What a run works on: shared with the thread that computes, which may outlive the request.
struct RunState {
  fake::Network network;
  std::string device;
  std::string precision;
  std::vector<std::shared_ptr<fake::TensorData>> inputs;
  std::vector<std::shared_ptr<fake::TensorData>> outputs;
  std::shared_ptr<fake::Spoiled> spoiled;
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  bool running = false;
  bool cancelled = false;
  Code code = kOk;
};

struct InferRequest {
  std::shared_ptr<RunState> run;
  CompiledModel* compiled = nullptr;
};

}  // namespace latebind::openvino::abi
