// The fake host's opaque types, the account of its objects, and the faults of its calls. Private to
// fake_plugin_host.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <type_traits>
#include <utility>

#include "tests/fakes/fake_plugin_host.h"
#include "tests/support/failing_new.h"

// The host's opaque types, filled in.
namespace latebind::provider::abi {

struct Status {
  ErrorCode code = kOk;
  std::string text;
};
struct Logger {
  std::mutex mutex;
  std::vector<std::string> lines;  // guarded by mutex
};
struct KeyValuePairs {
  std::map<std::string, std::string> entries;
  // As they are handed out.
  std::vector<const char*> keys;
  std::vector<const char*> values;
};
struct HardwareDevice {
  HardwareDeviceType type = kHardwareCpu;
  std::map<std::string, std::string> metadata;
};
struct EpDevice {
  const HardwareDevice* hardware = nullptr;
  std::map<std::string, std::string> metadata;
};
struct SessionOptions {
  std::map<std::string, std::string> entries;
  std::set<std::string> initializers;
};
struct MemoryInfo {};
struct RunOptions {
  std::map<std::string, std::string> entries;
};
struct TensorTypeAndShapeInfo {
  ElementType type{};
  std::vector<std::int64_t> shape;
};
struct TypeInfo {
  TensorTypeAndShapeInfo tensor;
};
struct Value {
  test::HostTensor tensor;
};
struct ValueInfo {
  std::string name;
  TypeInfo type;
  const Value* initializer = nullptr;
};
struct OpAttr {
  test::HostAttribute attribute;
};
struct Node {
  test::HostNode node;
  std::string name;
  std::vector<const ValueInfo*> inputs;
  std::vector<const ValueInfo*> outputs;
  std::vector<std::unique_ptr<OpAttr>> attributes;
};
struct Graph {
  test::HostGraph source;
  std::map<std::string, std::unique_ptr<ValueInfo>> values;
  std::vector<std::unique_ptr<Value>> initializers;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<const ValueInfo*> outputs;
};
struct KernelContext {
  std::vector<std::unique_ptr<Value>> inputs;
  std::vector<std::unique_ptr<Value>> outputs;
};
struct GraphSupportInfo {
  std::vector<std::vector<const Node*>> parts;
};
struct IncompatibilityDetails {
  std::uint32_t reasons = 0;
  std::string text;
};

}  // namespace latebind::provider::abi

namespace latebind::test::host {

inline constexpr const char* kGarbageText = "\xff\xfe%n\x01../..";
inline constexpr std::int64_t kEnormous = std::int64_t{1} << 60U;

struct State {
  std::mutex mutex;
  // Guarded by mutex.
  std::map<const void*, std::string> alive;
  std::string defects;
  std::uint64_t calls = 0;
  std::uint64_t faulty_call = 0;
  HostFault fault = HostFault::kFails;
  std::string faulted;
  std::map<std::string, std::string> environment;
};

inline State& state() {
  static auto* one = new State;
  return *one;
}

template <class T>
T* born(const char* kind, T* object) {
  const std::lock_guard lock(state().mutex);
  state().alive[object] = kind;
  return object;
}

template <class T>
inline void dies(const char* kind, T* object) {
  if (object == nullptr) return;
  {
    const std::lock_guard lock(state().mutex);
    const auto found = state().alive.find(object);
    if (found == state().alive.end() || found->second != kind) {
      state().defects += std::string(kind) + " released that is none\n";
      return;
    }
    state().alive.erase(found);
  }
  delete object;
}

inline abi::Status* make_status(abi::ErrorCode code, const char* text) {
  return born("Status", new abi::Status{code, text != nullptr ? text : ""});
}

// Each call of a function passes here.
class Call {
 public:
  explicit Call(const char* function) {
    const std::lock_guard lock(state().mutex);
    if (++state().calls != state().faulty_call) return;
    state().faulted = function;
    faulty_ = true;
    fault_ = state().fault;
    name_ = function;
  }
  [[nodiscard]] bool fails() const { return faulty_ && fault_ == HostFault::kFails; }
  [[nodiscard]] abi::Status* status() const {
    return fails() ? make_status(abi::kFail, (std::string(name_) + " fails in the host").c_str()) : nullptr;
  }
  [[nodiscard]] bool lies() const { return faulty_ && fault_ != HostFault::kFails; }

  template <class T>
  [[nodiscard]] T answer(T right) const {
    if (!faulty_) return right;
    if (fault_ != HostFault::kGarbage) return T{};
    if constexpr (std::is_same_v<T, const char*>) {
      return kGarbageText;
    } else if constexpr (std::is_pointer_v<T>) {
      return nullptr;
    } else if constexpr (std::is_same_v<T, bool>) {
      return !right;
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(12345);
    } else if constexpr (sizeof(T) == 8) {
      return static_cast<T>(kEnormous);
    } else {
      return static_cast<T>(-7);
    }
  }
  template <class T>
  void give(T* to, T right) const {
    *to = answer(right);
  }
  // Lists: each element is a wrong one.
  template <class T, class From>
  void give_all(T* to, const From& from, std::size_t room) const {
    for (std::size_t i = 0; i < std::min(room, from.size()); ++i)
      to[i] = answer(static_cast<T>(from[i]));
  }

 private:
  bool faulty_ = false;
  HostFault fault_ = HostFault::kFails;
  const char* name_ = "";
};

// The function's own name is what a test reads. What the host allocates is never refused.
#define LB_CALL        \
  const Spared spared; \
  const Call call(__func__)
#define LB_FALLIBLE \
  LB_CALL;          \
  if (abi::Status* failed = call.status()) return failed

}  // namespace latebind::test::host
