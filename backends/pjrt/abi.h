// The part of PJRT's C interface that Latebind uses, declared here: no vendor's header is needed to build.
//
// A plug-in exports GetPjrtApi(), which returns a table of functions. Each function takes one struct, whose first
// members are its size and a list of extensions. Plug-ins refuse a struct that is smaller than theirs; most accept a
// larger one, some only their own size. So each struct says the exact size, and `Spare` behind it is for plug-ins that
// write more than they were told of. Sizes and places were asked of plug-ins of versions 0.81 to 0.117.
#pragma once

#include <cstddef>
#include <cstdint>

namespace latebind::pjrt::abi {

// The first version in which the functions have these places. Since then, functions were added at the end only.
inline constexpr int kMajor = 0;
inline constexpr int kMinorLeast = 57;

struct Head {
  std::size_t size = 0;
  void* extensions = nullptr;
};

struct Api {
  Head head;
  std::size_t version_size = 0;
  void* version_extensions = nullptr;
  int major = 0;
  int minor = 0;
  void* functions[1] = {};  // as many as head.size says
};
static_assert(offsetof(Api, major) == 32 && offsetof(Api, functions) == 40);

// The places of functions in the table.
enum class Function : std::size_t {
  kErrorDestroy = 0,
  kErrorMessage = 1,
  kErrorGetCode = 2,
  kPluginInitialize = 3,
  kEventDestroy = 5,
  kEventAwait = 8,
  kClientCreate = 10,
  kClientDestroy = 11,
  kClientPlatformName = 12,
  kClientPlatformVersion = 14,
  kClientAddressableDevices = 16,
  kClientCompile = 20,
  kClientBufferFromHostBuffer = 22,
  kDeviceDescriptionKind = 26,
  kDeviceGetDescription = 29,
  kExecutableDestroy = 40,
  kExecutableNumOutputs = 44,
  kExecutableSerialize = 49,
  kLoadedExecutableDestroy = 50,
  kLoadedExecutableGetExecutable = 51,
  kLoadedExecutableExecute = 55,
  kExecutableDeserializeAndLoad = 56,
  kBufferDestroy = 58,
  kBufferToHostBuffer = 70,
};
// The size of a table with all of these functions.
inline constexpr std::size_t kTableLeast =
    offsetof(Api, functions) + sizeof(void*) * (static_cast<std::size_t>(Function::kBufferToHostBuffer) + 1);

// Objects of a plug-in.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Executable;
struct LoadedExecutable;
struct Buffer;

enum class Type : int { kI32 = 4, kI64 = 5, kF16 = 10, kF32 = 11, kBF16 = 13 };

// When a plug-in no longer needs the host's memory that it copies from.
enum class HostMemory : int { kCopiedInCall = 0, kUntilTransferred = 1 };

struct Spare {
  std::byte zeroes[256] = {};
};

// A handle goes in, and nothing comes out; a handle comes out.
struct DoneArgs {
  Head head;
  void* handle = nullptr;
  Spare spare;
};
struct HandleArgs {
  Head head;
  void* handle = nullptr;
  void* out = nullptr;
  Spare spare;
};
struct NoArgs {
  Head head;
  Spare spare;
};
struct ErrorMessageArgs {
  Head head;
  Error* error = nullptr;
  const char* text = nullptr;
  std::size_t length = 0;
  Spare spare;
};
struct ErrorCodeArgs {
  Head head;
  Error* error = nullptr;
  int code = 0;
  Spare spare;
};
struct TextArgs {
  Head head;
  void* handle = nullptr;
  const char* text = nullptr;
  std::size_t length = 0;
  Spare spare;
};
struct ListArgs {
  Head head;
  void* handle = nullptr;
  void* const* items = nullptr;
  std::size_t count = 0;
  Spare spare;
};
struct CountArgs {
  Head head;
  void* handle = nullptr;
  std::size_t count = 0;
  Spare spare;
};

enum class ValueType : int { kText = 0, kBool = 4 };
struct NamedValue {
  Head head;
  const char* name = nullptr;
  std::size_t name_size = 0;
  ValueType type = ValueType::kText;
  union Value {
    const char* text = nullptr;
    bool truth;
  } value{};
  std::size_t count = 1;  // characters of a text, otherwise 1
};
static_assert(sizeof(NamedValue) == 56);  // in arrays: no spare

struct ClientCreateArgs {
  Head head;
  const NamedValue* options = nullptr;
  std::size_t option_count = 0;
  void* get = nullptr;  // a store of keys and values, for clients of several processes
  void* get_data = nullptr;
  void* put = nullptr;
  void* put_data = nullptr;
  Client* client = nullptr;  // out
  void* try_get = nullptr;
  void* try_get_data = nullptr;
  Spare spare;
};
struct Program {
  Head head;
  const char* code = nullptr;
  std::size_t code_size = 0;
  const char* format = nullptr;  // "mlir": text or bytecode
  std::size_t format_size = 0;
  Spare spare;
};
struct CompileArgs {
  Head head;
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* options = nullptr;  // CompileOptionsProto
  std::size_t options_size = 0;
  LoadedExecutable* executable = nullptr;  // out
  Spare spare;
};
struct FromHostArgs {
  Head head;
  Client* client = nullptr;
  const void* data = nullptr;
  Type type = Type::kF32;
  const std::int64_t* dims = nullptr;
  std::size_t dim_count = 0;
  const std::int64_t* byte_strides = nullptr;  // none: dense
  std::size_t byte_stride_count = 0;
  HostMemory memory_use = HostMemory::kCopiedInCall;
  Device* device = nullptr;
  void* memory = nullptr;
  void* layout = nullptr;
  Event* done = nullptr;     // out: the host's memory is no longer needed
  Buffer* buffer = nullptr;  // out
  Spare spare;
};
struct SerializeArgs {
  Head head;
  const Executable* executable = nullptr;
  const char* bytes = nullptr;
  std::size_t size_of_bytes = 0;
  void* owner = nullptr;
  void (*release)(void* owner) = nullptr;
  Spare spare;
};
struct DeserializeArgs {
  Head head;
  Client* client = nullptr;
  const char* bytes = nullptr;
  std::size_t size_of_bytes = 0;
  LoadedExecutable* executable = nullptr;  // out
  const char* options = nullptr;           // none: those it was compiled with
  std::size_t options_size = 0;
  Spare spare;
};
struct ExecuteOptions {
  Head head;
  std::byte unused[96] = {};  // all zero: nothing is sent or received, no input is donated, there is no context
  Spare spare;
};
struct ExecuteArgs {
  Head head;
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* inputs = nullptr;  // one list a device
  std::size_t device_count = 1;
  std::size_t input_count = 0;
  Buffer** const* outputs = nullptr;  // lists that the caller has allocated
  Event** done = nullptr;             // one a device
  Device* device = nullptr;           // none: those it was compiled for
  Spare spare;
};
struct ToHostArgs {
  Head head;
  Buffer* buffer = nullptr;
  void* layout = nullptr;
  void* data = nullptr;  // none: asks for the size
  std::size_t size_of_data = 0;
  Event* done = nullptr;  // out
  Spare spare;
};

// The sizes that plug-ins name when they are given less.
static_assert(offsetof(NoArgs, spare) == 16 && offsetof(DoneArgs, spare) == 24 && offsetof(HandleArgs, spare) == 32);
static_assert(offsetof(ErrorMessageArgs, spare) == 40 && offsetof(TextArgs, spare) == 40);
static_assert(offsetof(ListArgs, spare) == 40 && offsetof(CountArgs, spare) == 32);
static_assert(offsetof(ErrorCodeArgs, code) + sizeof(int) == 28);
static_assert(offsetof(ClientCreateArgs, spare) == 88 && offsetof(Program, spare) == 48);
static_assert(offsetof(CompileArgs, spare) == 56 && offsetof(FromHostArgs, spare) == 120);
static_assert(offsetof(SerializeArgs, spare) == 56 && offsetof(DeserializeArgs, spare) == 64);
static_assert(offsetof(ExecuteOptions, spare) == 112 && offsetof(ExecuteArgs, spare) == 80);
static_assert(offsetof(ToHostArgs, spare) == 56);

// The name of the function that a plug-in exports, and its type.
inline constexpr const char* kEntry = "GetPjrtApi";
using GetApi = const Api* (*)();

}  // namespace latebind::pjrt::abi
