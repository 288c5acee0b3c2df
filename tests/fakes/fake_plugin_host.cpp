#include "tests/fakes/fake_plugin_host.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <type_traits>
#include <utility>

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

namespace latebind::test {
namespace {

constexpr const char* kGarbageText = "\xff\xfe%n\x01../..";
constexpr std::int64_t kEnormous = std::int64_t{1} << 60U;

// --- Accounts and faults ---

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

State& state() {
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
void dies(const char* kind, T* object) {
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

abi::Status* make_status(abi::ErrorCode code, const char* text) {
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

// --- Functions of the main table ---

abi::Status* CreateStatus(abi::ErrorCode code, const char* text) {
  LB_CALL;
  return call.fails() || call.lies() ? nullptr : make_status(code, text);
}
const char* GetErrorMessage(const abi::Status* status) {
  LB_CALL;
  return call.answer(status->text.c_str());
}
void ReleaseStatus(abi::Status* status) {
  const Spared spared;
  dies("Status", status);
}
void ReleaseValue(abi::Value* value) {
  const Spared spared;
  dies("Value", value);
}
abi::Status* CreateCpuMemoryInfo(int, int, abi::MemoryInfo** made) {
  LB_FALLIBLE;
  *made = call.lies() ? nullptr : born("MemoryInfo", new abi::MemoryInfo);
  return nullptr;
}
void ReleaseMemoryInfo(abi::MemoryInfo* memory) {
  const Spared spared;
  dies("MemoryInfo", memory);
}
abi::Status* CreateTensorWithDataAsOrtValue(const abi::MemoryInfo*, void* data, std::size_t size,
                                            const std::int64_t* shape, std::size_t rank, abi::ElementType type,
                                            abi::Value** made) {
  LB_FALLIBLE;
  const std::string bytes(static_cast<const char*>(data), size);
  *made = call.lies() ? nullptr : born("Value", new abi::Value{{type, {shape, shape + rank}, bytes}});
  return nullptr;
}
abi::Status* CloneSessionOptions(const abi::SessionOptions* options, abi::SessionOptions** made) {
  LB_FALLIBLE;
  *made = call.lies() ? nullptr : born("SessionOptions", new abi::SessionOptions(*options));
  return nullptr;
}
void ReleaseSessionOptions(abi::SessionOptions* options) {
  const Spared spared;
  dies("SessionOptions", options);
}
abi::Status* AddInitializer(abi::SessionOptions* options, const char* name, const abi::Value*) {
  LB_FALLIBLE;
  if (options->initializers.insert(name).second) return nullptr;
  return make_status(abi::kInvalidArgument, "an initializer of this name has been added");
}
abi::Status* GetTensorMutableData(abi::Value* value, void** data) {
  LB_FALLIBLE;
  call.give<void*>(data, value->tensor.bytes.data());
  return nullptr;
}
abi::Status* GetTensorData(const abi::Value* value, const void** data) {
  LB_FALLIBLE;
  call.give<const void*>(data, value->tensor.bytes.data());
  return nullptr;
}
abi::Status* GetTensorSizeInBytes(const abi::Value* value, std::size_t* size) {
  LB_FALLIBLE;
  call.give(size, value->tensor.bytes.size());
  return nullptr;
}
abi::Status* GetTensorElementTypeAndShapeDataReference(const abi::Value* value, abi::ElementType* type,
                                                       const std::int64_t** shape, std::size_t* rank) {
  LB_FALLIBLE;
  call.give(type, static_cast<abi::ElementType>(value->tensor.type));
  call.give(shape, value->tensor.shape.data());
  call.give(rank, value->tensor.shape.size());
  return nullptr;
}
abi::Status* CastTypeInfoToTensorInfo(const abi::TypeInfo* type, const abi::TensorTypeAndShapeInfo** tensor) {
  LB_FALLIBLE;
  call.give(tensor, &type->tensor);
  return nullptr;
}
abi::Status* GetOnnxTypeFromTypeInfo(const abi::TypeInfo*, abi::OnnxType* kind) {
  LB_FALLIBLE;
  call.give(kind, abi::kTensorValue);
  return nullptr;
}
abi::Status* GetTensorElementType(const abi::TensorTypeAndShapeInfo* tensor, abi::ElementType* type) {
  LB_FALLIBLE;
  call.give(type, tensor->type);
  return nullptr;
}
abi::Status* GetDimensionsCount(const abi::TensorTypeAndShapeInfo* tensor, std::size_t* rank) {
  LB_FALLIBLE;
  call.give(rank, tensor->shape.size());
  return nullptr;
}
abi::Status* GetDimensions(const abi::TensorTypeAndShapeInfo* tensor, std::int64_t* shape, std::size_t rank) {
  LB_FALLIBLE;
  call.give_all(shape, tensor->shape, rank);
  return nullptr;
}
abi::Status* GetSymbolicDimensions(const abi::TensorTypeAndShapeInfo* tensor, const char** symbols, std::size_t rank) {
  LB_FALLIBLE;
  for (std::size_t i = 0; i < std::min(rank, tensor->shape.size()); ++i)
    symbols[i] = call.answer<const char*>("");
  return nullptr;
}
bool TensorTypeAndShape_HasShape(const abi::TensorTypeAndShapeInfo*) {
  LB_CALL;
  return call.answer(true);
}
abi::Status* KernelContext_GetInput(const abi::KernelContext* context, std::size_t index, const abi::Value** value) {
  LB_FALLIBLE;
  call.give<const abi::Value*>(value, context->inputs.at(index).get());
  return nullptr;
}
abi::Status* KernelContext_GetOutput(abi::KernelContext* context, std::size_t index, const std::int64_t* shape,
                                     std::size_t rank, abi::Value** value) {
  LB_FALLIBLE;
  auto made = std::make_unique<abi::Value>();
  made->tensor.shape.assign(shape, shape + rank);
  std::size_t size = sizeof(float);
  for (const std::int64_t dimension : made->tensor.shape)
    size *= static_cast<std::size_t>(dimension);
  made->tensor.bytes.resize(size);
  context->outputs.at(index) = std::move(made);
  call.give<abi::Value*>(value, context->outputs[index].get());
  return nullptr;
}
abi::Status* CreateOpAttr(const char* name, const void* data, int count, abi::OpAttrType type, abi::OpAttr** made) {
  LB_FALLIBLE;
  if (call.lies()) {
    *made = nullptr;
    return nullptr;
  }
  const std::size_t size = static_cast<std::size_t>(count) * (type == abi::kAttrString ? 1 : sizeof(std::int64_t));
  *made = born("OpAttr", new abi::OpAttr{{name, type, std::string(static_cast<const char*>(data), size)}});
  return nullptr;
}
void ReleaseOpAttr(abi::OpAttr* attribute) {
  const Spared spared;
  dies("OpAttr", attribute);
}
abi::Status* Logger_LogMessage(const abi::Logger* logger, abi::LoggingLevel, const char* text, const abi::PathChar*,
                               int, const char*) {
  LB_FALLIBLE;
  auto& to = const_cast<abi::Logger&>(*logger);
  const std::lock_guard lock(to.mutex);
  to.lines.emplace_back(text);
  return nullptr;
}
abi::Status* ReadOpAttr(const abi::OpAttr* attribute, abi::OpAttrType type, void* data, std::size_t room,
                        std::size_t* size) {
  LB_FALLIBLE;
  const std::string& bytes = attribute->attribute.bytes;
  if (type != attribute->attribute.type) return make_status(abi::kFail, "the attribute is of another kind");
  call.give(size, bytes.size());
  if (call.lies()) return nullptr;
  if (room < bytes.size()) return make_status(abi::kInvalidArgument, "the room is too small");
  std::memcpy(data, bytes.data(), bytes.size());
  return nullptr;
}
abi::Status* GetValueInfoName(const abi::ValueInfo* value, const char** name) {
  LB_FALLIBLE;
  call.give(name, value->name.c_str());
  return nullptr;
}
abi::Status* GetValueInfoTypeInfo(const abi::ValueInfo* value, const abi::TypeInfo** type) {
  LB_FALLIBLE;
  call.give(type, &value->type);
  return nullptr;
}
void CreateKeyValuePairs(abi::KeyValuePairs** made) {
  LB_CALL;
  *made = call.fails() || call.lies() ? nullptr : born("KeyValuePairs", new abi::KeyValuePairs);
}
void AddKeyValuePair(abi::KeyValuePairs* pairs, const char* key, const char* value) {
  const Spared spared;
  pairs->entries[key] = value;
}
const char* GetKeyValue(const abi::KeyValuePairs* pairs, const char* key) {
  LB_CALL;
  const auto found = pairs->entries.find(key);
  return call.answer(found != pairs->entries.end() ? found->second.c_str() : nullptr);
}
void GetKeyValuePairs(const abi::KeyValuePairs* pairs, const char* const** keys, const char* const** values,
                      std::size_t* count) {
  LB_CALL;
  auto& own = const_cast<abi::KeyValuePairs&>(*pairs);
  own.keys.clear();
  own.values.clear();
  for (const auto& [key, value] : own.entries) {
    own.keys.push_back(call.answer(key.c_str()));
    own.values.push_back(call.answer(value.c_str()));
  }
  *keys = own.keys.data();
  *values = own.values.data();
  *count = own.keys.size();
}
void ReleaseKeyValuePairs(abi::KeyValuePairs* pairs) {
  const Spared spared;
  dies("KeyValuePairs", pairs);
}
abi::HardwareDeviceType HardwareDevice_Type(const abi::HardwareDevice* hardware) {
  LB_CALL;
  return call.answer(hardware->type);
}
abi::Status* ValueInfo_GetInitializerValue(const abi::ValueInfo* value, const abi::Value** initializer) {
  LB_FALLIBLE;
  call.give(initializer, value->initializer);
  return nullptr;
}
// All are in memory: none is in a file of its own.
abi::Status* ValueInfo_GetExternalInitializerInfo(const abi::ValueInfo* /*value*/,
                                                  abi::ExternalInitializerInfo** info) {
  LB_FALLIBLE;
  call.give(info, static_cast<abi::ExternalInitializerInfo*>(nullptr));
  return nullptr;
}
void ReleaseExternalInitializerInfo(abi::ExternalInitializerInfo* /*info*/) {}
const abi::PathChar* ExternalInitializerInfo_GetFilePath(const abi::ExternalInitializerInfo* /*info*/) {
  return nullptr;
}
std::int64_t ExternalInitializerInfo_GetFileOffset(const abi::ExternalInitializerInfo* /*info*/) {
  return 0;
}
std::size_t ExternalInitializerInfo_GetByteSize(const abi::ExternalInitializerInfo* /*info*/) {
  return 0;
}
abi::Status* ValueInfo_IsConstantInitializer(const abi::ValueInfo* value, bool* is_constant) {
  LB_FALLIBLE;
  call.give(is_constant, value->initializer != nullptr);
  return nullptr;
}
abi::Status* Graph_GetModelPath(const abi::Graph* graph, const abi::PathChar** path) {
  LB_FALLIBLE;
  call.give(path, graph->source.path.c_str());
  return nullptr;
}
abi::Status* Graph_GetOnnxIRVersion(const abi::Graph*, std::int64_t* version) {
  LB_FALLIBLE;
  call.give(version, std::int64_t{9});
  return nullptr;
}
abi::Status* Graph_GetNumOperatorSets(const abi::Graph*, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, std::size_t{1});
  return nullptr;
}
abi::Status* Graph_GetOperatorSets(const abi::Graph*, const char** domains, std::int64_t* versions, std::size_t count) {
  LB_FALLIBLE;
  if (count == 0) return nullptr;
  call.give<const char*>(domains, "");
  call.give(versions, std::int64_t{17});
  return nullptr;
}
abi::Status* Graph_GetNumOutputs(const abi::Graph* graph, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, graph->outputs.size());
  return nullptr;
}
abi::Status* Graph_GetOutputs(const abi::Graph* graph, const abi::ValueInfo** outputs, std::size_t count) {
  LB_FALLIBLE;
  call.give_all(outputs, graph->outputs, count);
  return nullptr;
}
abi::Status* Graph_GetNumNodes(const abi::Graph* graph, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, graph->nodes.size());
  return nullptr;
}
abi::Status* Graph_GetNodes(const abi::Graph* graph, const abi::Node** nodes, std::size_t count) {
  LB_FALLIBLE;
  std::vector<const abi::Node*> all;
  for (const auto& node : graph->nodes)
    all.push_back(node.get());
  call.give_all(nodes, all, count);
  return nullptr;
}
abi::Status* Graph_GetParentNode(const abi::Graph*, const abi::Node** parent) {
  LB_FALLIBLE;
  *parent = nullptr;
  return nullptr;
}
abi::Status* Node_GetName(const abi::Node* node, const char** name) {
  LB_FALLIBLE;
  call.give(name, node->name.c_str());
  return nullptr;
}
abi::Status* Node_GetOperatorType(const abi::Node* node, const char** op) {
  LB_FALLIBLE;
  call.give(op, node->node.op.c_str());
  return nullptr;
}
abi::Status* Node_GetDomain(const abi::Node* node, const char** domain) {
  LB_FALLIBLE;
  call.give(domain, node->node.domain.c_str());
  return nullptr;
}
abi::Status* Node_GetSinceVersion(const abi::Node*, int* version) {
  LB_FALLIBLE;
  call.give(version, 13);
  return nullptr;
}
abi::Status* Node_GetNumInputs(const abi::Node* node, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, node->inputs.size());
  return nullptr;
}
abi::Status* Node_GetInputs(const abi::Node* node, const abi::ValueInfo** inputs, std::size_t count) {
  LB_FALLIBLE;
  call.give_all(inputs, node->inputs, count);
  return nullptr;
}
abi::Status* Node_GetNumOutputs(const abi::Node* node, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, node->outputs.size());
  return nullptr;
}
abi::Status* Node_GetOutputs(const abi::Node* node, const abi::ValueInfo** outputs, std::size_t count) {
  LB_FALLIBLE;
  call.give_all(outputs, node->outputs, count);
  return nullptr;
}
abi::Status* Node_GetNumImplicitInputs(const abi::Node*, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, std::size_t{0});
  return nullptr;
}
abi::Status* Node_GetImplicitInputs(const abi::Node*, const abi::ValueInfo**, std::size_t) {
  LB_FALLIBLE;
  return nullptr;
}
abi::Status* Node_GetNumAttributes(const abi::Node* node, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, node->attributes.size());
  return nullptr;
}
abi::Status* Node_GetAttributes(const abi::Node* node, const abi::OpAttr** attributes, std::size_t count) {
  LB_FALLIBLE;
  std::vector<const abi::OpAttr*> all;
  for (const auto& attribute : node->attributes)
    all.push_back(attribute.get());
  call.give_all(attributes, all, count);
  return nullptr;
}
abi::Status* Node_GetAttributeByName(const abi::Node* node, const char* name, const abi::OpAttr** attribute) {
  LB_FALLIBLE;
  const auto found = std::ranges::find_if(node->attributes, [&](const auto& a) { return a->attribute.name == name; });
  call.give<const abi::OpAttr*>(attribute, found != node->attributes.end() ? found->get() : nullptr);
  return nullptr;
}
abi::Status* OpAttr_GetTensorAttributeAsOrtValue(const abi::OpAttr* attribute, abi::Value** value) {
  LB_FALLIBLE;
  if (call.lies()) {
    *value = nullptr;
    return nullptr;
  }
  const std::string& bytes = attribute->attribute.bytes;
  *value = born("Value", new abi::Value{{1, {static_cast<std::int64_t>(bytes.size() / sizeof(float))}, bytes}});
  return nullptr;
}
abi::Status* OpAttr_GetType(const abi::OpAttr* attribute, abi::OpAttrType* type) {
  LB_FALLIBLE;
  call.give(type, attribute->attribute.type);
  return nullptr;
}
abi::Status* OpAttr_GetName(const abi::OpAttr* attribute, const char** name) {
  LB_FALLIBLE;
  call.give(name, attribute->attribute.name.c_str());
  return nullptr;
}
abi::Status* Node_GetNumSubgraphs(const abi::Node* node, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, node->node.subgraphs);
  return nullptr;
}
const char* GetRunConfigEntry(const abi::RunOptions* options, const char* key) {
  LB_CALL;
  const auto found = options->entries.find(key);
  return call.answer(found != options->entries.end() ? found->second.c_str() : nullptr);
}
abi::Status* GetSessionOptionsConfigEntries(const abi::SessionOptions* options, abi::KeyValuePairs** entries) {
  LB_FALLIBLE;
  *entries = call.lies() ? nullptr : born("KeyValuePairs", new abi::KeyValuePairs{options->entries, {}, {}});
  return nullptr;
}

// --- Of plugin providers ---

abi::Status* CreateEpDevice(abi::EpFactory*, const abi::HardwareDevice* hardware, const abi::KeyValuePairs* metadata,
                            const abi::KeyValuePairs*, abi::EpDevice** device) {
  LB_FALLIBLE;
  *device = call.lies() ? nullptr
                        : born("EpDevice",
                               new abi::EpDevice{hardware, metadata != nullptr ? metadata->entries
                                                                               : std::map<std::string, std::string>{}});
  return nullptr;
}
void ReleaseEpDevice(abi::EpDevice* device) {
  const Spared spared;
  dies("EpDevice", device);
}
abi::Status* EpGraphSupportInfo_AddNodesToFuse(abi::GraphSupportInfo* support, const abi::Node* const* nodes,
                                               std::size_t count, const abi::NodeFusionOptions*) {
  LB_FALLIBLE;
  support->parts.emplace_back(nodes, nodes + count);
  return nullptr;
}
abi::Status* CreateHardwareDevice(abi::HardwareDeviceType type, std::uint32_t, std::uint32_t, const char*,
                                  const abi::KeyValuePairs* metadata, abi::HardwareDevice** hardware) {
  LB_FALLIBLE;
  *hardware = call.lies()
                  ? nullptr
                  : born("HardwareDevice",
                         new abi::HardwareDevice{
                             type, metadata != nullptr ? metadata->entries : std::map<std::string, std::string>{}});
  return nullptr;
}
void ReleaseHardwareDevice(abi::HardwareDevice* hardware) {
  const Spared spared;
  dies("HardwareDevice", hardware);
}
abi::Status* DeviceEpIncompatibilityDetails_SetDetails(abi::IncompatibilityDetails* details, std::uint32_t reasons,
                                                       std::int32_t, const char* text) {
  LB_FALLIBLE;
  details->reasons = reasons;
  details->text = text;
  return nullptr;
}
abi::Status* GetEnvConfigEntries(abi::KeyValuePairs** entries) {
  LB_FALLIBLE;
  const std::map<std::string, std::string> environment = [] {
    const std::lock_guard lock(state().mutex);
    return state().environment;
  }();
  *entries = call.lies() ? nullptr : born("KeyValuePairs", new abi::KeyValuePairs{environment, {}, {}});
  return nullptr;
}
abi::Status* CreateNode(const char* op, const char* domain, const char* name, const char* const* inputs,
                        std::size_t input_count, const char* const* outputs, std::size_t output_count,
                        abi::OpAttr** attributes, std::size_t attribute_count, abi::Node** node) {
  LB_FALLIBLE;
  if (call.lies()) {
    *node = nullptr;
    return nullptr;
  }
  auto made = std::make_unique<abi::Node>();
  made->name = name;
  made->node.op = op;
  made->node.domain = domain;
  made->node.inputs.assign(inputs, inputs + input_count);
  made->node.outputs.assign(outputs, outputs + output_count);
  for (std::size_t i = 0; i < attribute_count; ++i) {
    made->node.attributes.push_back(attributes[i]->attribute);
    dies("OpAttr", std::exchange(attributes[i], nullptr));
  }
  *node = born("Node", made.release());
  return nullptr;
}

// --- The tables ---

constexpr std::size_t kSlots = 512;
using Table = std::array<abi::Slot, kSlots>;

#define LB_PUT(slot, name, since, result, parameters)    \
  {                                                      \
    const decltype(abi::Tables::name) function = &name;  \
    table[slot] = reinterpret_cast<abi::Slot>(function); \
  }
const Table& ep_table() {
  static const Table filled = [] {
    Table table{};
    LB_PROVIDER_EP_API(LB_PUT)
    return table;
  }();
  return filled;
}
const Table& editor_table() {
  static const Table filled = [] {
    Table table{};
    LB_PROVIDER_EDITOR_API(LB_PUT)
    return table;
  }();
  return filled;
}
const abi::EpApi* GetEpApi() {
  LB_CALL;
  return call.answer(reinterpret_cast<const abi::EpApi*>(ep_table().data()));
}
const abi::EditorApi* GetModelEditorApi() {
  LB_CALL;
  return call.answer(reinterpret_cast<const abi::EditorApi*>(editor_table().data()));
}
const Table& main_table() {
  static const Table filled = [] {
    Table table{};
    LB_PROVIDER_API(LB_PUT)
    return table;
  }();
  return filled;
}
#undef LB_PUT

abi::ValueInfo& value_of(abi::Graph& graph, const std::string& name) {
  auto& value = graph.values[name];
  if (value != nullptr) return *value;
  value = std::make_unique<abi::ValueInfo>();
  value->name = name;
  value->type.tensor = {static_cast<abi::ElementType>(1), graph.source.shape};
  if (const auto found = graph.source.initializers.find(name); found != graph.source.initializers.end()) {
    graph.initializers.push_back(std::make_unique<abi::Value>(abi::Value{found->second}));
    value->initializer = graph.initializers.back().get();
    value->type.tensor = {static_cast<abi::ElementType>(found->second.type), found->second.shape};
  }
  return *value;
}

std::unique_ptr<abi::Node> hosted_node(abi::Graph& graph, const HostNode& source, std::string name) {
  auto node = std::make_unique<abi::Node>();
  node->node = source;
  node->name = std::move(name);
  for (const std::string& input : source.inputs)
    node->inputs.push_back(input.empty() ? nullptr : &value_of(graph, input));
  for (const std::string& output : source.outputs)
    node->outputs.push_back(&value_of(graph, output));
  for (const HostAttribute& attribute : source.attributes)
    node->attributes.push_back(std::make_unique<abi::OpAttr>(abi::OpAttr{attribute}));
  return node;
}

std::unique_ptr<abi::Graph> hosted(const HostGraph& source) {
  auto graph = std::make_unique<abi::Graph>();
  graph->source = source;
  for (std::size_t i = 0; i < source.nodes.size(); ++i)
    graph->nodes.push_back(hosted_node(*graph, source.nodes[i], "node" + std::to_string(i)));
  for (const std::string& output : source.outputs)
    graph->outputs.push_back(&value_of(*graph, output));
  return graph;
}

}  // namespace

void fault_host_call(std::uint64_t n, HostFault fault) {
  const std::lock_guard lock(state().mutex);
  state().calls = 0;
  state().faulty_call = n;
  state().fault = fault;
  state().faulted.clear();
}

std::uint64_t host_calls() {
  const std::lock_guard lock(state().mutex);
  return state().calls;
}

std::string faulted_function() {
  const std::lock_guard lock(state().mutex);
  return state().faulted;
}

std::string host_objects_alive() {
  const std::lock_guard lock(state().mutex);
  std::map<std::string, int> counts;
  for (const auto& [object, kind] : state().alive)
    ++counts[kind];
  std::string text;
  for (const auto& [kind, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  return text;
}

std::string host_defects() {
  const std::lock_guard lock(state().mutex);
  return state().defects;
}

const abi::ApiBase& host_base(std::uint32_t newest) {
  static std::atomic<std::uint32_t> limit;
  limit = newest;
  static const abi::ApiBase base{
      [](std::uint32_t version) -> const abi::Slot* { return version <= limit ? main_table().data() : nullptr; },
      []() -> const char* { return "1.24.0-fake"; }};
  return base;
}

void set_environment(std::map<std::string, std::string> entries) {
  const std::lock_guard lock(state().mutex);
  state().environment = std::move(entries);
}

namespace {

abi::Logger& logger() {
  static auto* one = new abi::Logger;
  return *one;
}

}  // namespace

const abi::Logger* host_logger() {
  return &logger();
}

std::vector<std::string> take_log() {
  const std::lock_guard lock(logger().mutex);
  return std::exchange(logger().lines, {});
}

std::string take_status(abi::Status* status) {
  if (status == nullptr) return {};
  std::string text = status->text.empty() ? "an error without a text" : status->text;
  dies("Status", status);
  return text;
}

HostedGraph::HostedGraph() = default;
HostedGraph::HostedGraph(const HostGraph& graph) : graph_(hosted(graph)) {}
HostedGraph::~HostedGraph() = default;

std::unique_ptr<HostedGraph> HostedGraph::part(const std::vector<const abi::Node*>& nodes) const {
  HostGraph source = graph_->source;
  source.nodes.clear();
  source.inputs.clear();
  source.outputs.clear();
  std::set<std::string> made;
  for (const auto& node : graph_->nodes) {
    const bool is_in = std::ranges::find(nodes, node.get()) != nodes.end();
    if (is_in) source.nodes.push_back(node->node);
    for (const std::string& output : node->node.outputs)
      if (is_in) made.insert(output);
  }
  const auto add_once = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (const auto& node : graph_->nodes) {
    const bool is_in = std::ranges::find(nodes, node.get()) != nodes.end();
    for (const std::string& input : node->node.inputs) {
      if (is_in && !made.contains(input) && !source.initializers.contains(input)) add_once(source.inputs, input);
      if (!is_in && made.contains(input)) add_once(source.outputs, input);
    }
  }
  for (const std::string& output : graph_->source.outputs)
    if (made.contains(output)) add_once(source.outputs, output);
  auto part = std::unique_ptr<HostedGraph>(new HostedGraph);
  part->graph_ = hosted(source);
  part->fused_ = hosted_node(*part->graph_, {"Fused", source.inputs, source.outputs, {}, "", 0}, "Latebind_0");
  return part;
}

HostNode take_node(abi::Node* node) {
  HostNode taken = node != nullptr ? node->node : HostNode{};
  dies("Node", node);
  return taken;
}

HostedOptions::HostedOptions(std::map<std::string, std::string> entries)
    : session_(std::make_unique<abi::SessionOptions>(abi::SessionOptions{entries, {}})),
      run_(std::make_unique<abi::RunOptions>(abi::RunOptions{std::move(entries)})) {}
HostedOptions::~HostedOptions() = default;

std::vector<std::vector<const abi::Node*>> capability(abi::Ep& ep, const HostedGraph& graph, std::string& error) {
  const Spared spared;
  abi::GraphSupportInfo support;
  error = take_status(by_provider([&] { return ep.GetCapability(&ep, graph.get(), &support); }));
  return support.parts;
}

std::vector<HostTensor> compute(abi::NodeComputeInfo& info, const std::vector<HostTensor>& inputs, std::size_t outputs,
                                std::string& error) {
  const Spared spared;
  abi::KernelContext context;
  for (const HostTensor& input : inputs)
    context.inputs.push_back(std::make_unique<abi::Value>(abi::Value{input}));
  context.outputs.resize(outputs);
  void* its_state = nullptr;
  error = take_status(by_provider([&] { return info.CreateState(&info, nullptr, &its_state); }));
  if (error.empty()) error = take_status(by_provider([&] { return info.Compute(&info, its_state, &context); }));
  info.ReleaseState(&info, its_state);
  std::vector<HostTensor> made;
  for (const auto& output : context.outputs)
    made.push_back(output != nullptr ? output->tensor : HostTensor{});
  return made;
}

const abi::HardwareDevice* host_hardware(abi::HardwareDeviceType type) {
  static const std::array<abi::HardwareDevice, 3> all{
      {{abi::kHardwareCpu, {}}, {abi::kHardwareGpu, {}}, {abi::kHardwareNpu, {}}}};
  return &all.at(static_cast<std::size_t>(type));
}

std::vector<OfferedDevice> offered(abi::EpFactory& factory, const std::vector<const abi::HardwareDevice*>& hardware,
                                   std::string& error) {
  const Spared spared;
  std::array<abi::EpDevice*, 16> devices{};
  std::size_t count = 0;
  error = take_status(by_provider([&] {
    return factory.GetSupportedDevices(&factory, hardware.data(), hardware.size(), devices.data(), devices.size(),
                                       &count);
  }));
  std::vector<OfferedDevice> made;
  for (std::size_t i = 0; i < count; ++i) {
    if (error.empty() && devices.at(i) != nullptr) {
      made.push_back({devices.at(i)->hardware, devices.at(i)->metadata, devices.at(i)->hardware->metadata});
    }
    dies("EpDevice", devices.at(i));
  }
  return made;
}

abi::Ep* create_ep(abi::EpFactory& factory, const OfferedDevice& device, const HostedOptions& options,
                   std::string& error) {
  const Spared spared;
  const abi::HardwareDevice* hardware = device.hardware;
  const abi::KeyValuePairs pairs{device.metadata, {}, {}};
  const abi::KeyValuePairs* metadata = &pairs;
  abi::Ep* ep = nullptr;
  error = take_status(by_provider(
      [&] { return factory.CreateEp(&factory, &hardware, &metadata, 1, options.session(), host_logger(), &ep); }));
  return ep;
}

}  // namespace latebind::test
