// Functions of the fake host about values, options, attributes and texts. Private to fake_plugin_host.cpp.
#pragma once

#include "tests/fakes/fake_plugin_host_state.h"

namespace latebind::test::host {

inline abi::Status* CreateStatus(abi::ErrorCode code, const char* text) {
  LB_CALL;
  return call.fails() || call.lies() ? nullptr : make_status(code, text);
}
inline const char* GetErrorMessage(const abi::Status* status) {
  LB_CALL;
  return call.answer(status->text.c_str());
}
inline void ReleaseStatus(abi::Status* status) {
  const Spared spared;
  dies("Status", status);
}
inline void ReleaseValue(abi::Value* value) {
  const Spared spared;
  dies("Value", value);
}
inline abi::Status* CreateCpuMemoryInfo(int, int, abi::MemoryInfo** made) {
  LB_FALLIBLE;
  *made = call.lies() ? nullptr : born("MemoryInfo", new abi::MemoryInfo);
  return nullptr;
}
inline void ReleaseMemoryInfo(abi::MemoryInfo* memory) {
  const Spared spared;
  dies("MemoryInfo", memory);
}
inline abi::Status* CreateTensorWithDataAsOrtValue(const abi::MemoryInfo*, void* data, std::size_t size,
                                                   const std::int64_t* shape, std::size_t rank, abi::ElementType type,
                                                   abi::Value** made) {
  LB_FALLIBLE;
  const std::string bytes(static_cast<const char*>(data), size);
  *made = call.lies() ? nullptr : born("Value", new abi::Value{{type, {shape, shape + rank}, bytes}});
  return nullptr;
}
inline abi::Status* CloneSessionOptions(const abi::SessionOptions* options, abi::SessionOptions** made) {
  LB_FALLIBLE;
  *made = call.lies() ? nullptr : born("SessionOptions", new abi::SessionOptions(*options));
  return nullptr;
}
inline void ReleaseSessionOptions(abi::SessionOptions* options) {
  const Spared spared;
  dies("SessionOptions", options);
}
inline abi::Status* AddInitializer(abi::SessionOptions* options, const char* name, const abi::Value*) {
  LB_FALLIBLE;
  if (options->initializers.insert(name).second) return nullptr;
  return make_status(abi::kInvalidArgument, "an initializer of this name has been added");
}
inline abi::Status* GetTensorMutableData(abi::Value* value, void** data) {
  LB_FALLIBLE;
  call.give<void*>(data, value->tensor.bytes.data());
  return nullptr;
}
inline abi::Status* GetTensorData(const abi::Value* value, const void** data) {
  LB_FALLIBLE;
  call.give<const void*>(data, value->tensor.bytes.data());
  return nullptr;
}
inline abi::Status* GetTensorSizeInBytes(const abi::Value* value, std::size_t* size) {
  LB_FALLIBLE;
  call.give(size, value->tensor.bytes.size());
  return nullptr;
}
inline abi::Status* GetTensorElementTypeAndShapeDataReference(const abi::Value* value, abi::ElementType* type,
                                                              const std::int64_t** shape, std::size_t* rank) {
  LB_FALLIBLE;
  call.give(type, static_cast<abi::ElementType>(value->tensor.type));
  call.give(shape, value->tensor.shape.data());
  call.give(rank, value->tensor.shape.size());
  return nullptr;
}
inline abi::Status* CastTypeInfoToTensorInfo(const abi::TypeInfo* type, const abi::TensorTypeAndShapeInfo** tensor) {
  LB_FALLIBLE;
  call.give(tensor, &type->tensor);
  return nullptr;
}
inline abi::Status* GetOnnxTypeFromTypeInfo(const abi::TypeInfo*, abi::OnnxType* kind) {
  LB_FALLIBLE;
  call.give(kind, abi::kTensorValue);
  return nullptr;
}
inline abi::Status* GetTensorElementType(const abi::TensorTypeAndShapeInfo* tensor, abi::ElementType* type) {
  LB_FALLIBLE;
  call.give(type, tensor->type);
  return nullptr;
}
inline abi::Status* GetDimensionsCount(const abi::TensorTypeAndShapeInfo* tensor, std::size_t* rank) {
  LB_FALLIBLE;
  call.give(rank, tensor->shape.size());
  return nullptr;
}
inline abi::Status* GetDimensions(const abi::TensorTypeAndShapeInfo* tensor, std::int64_t* shape, std::size_t rank) {
  LB_FALLIBLE;
  call.give_all(shape, tensor->shape, rank);
  return nullptr;
}
inline abi::Status* GetSymbolicDimensions(const abi::TensorTypeAndShapeInfo* tensor, const char** symbols,
                                          std::size_t rank) {
  LB_FALLIBLE;
  for (std::size_t i = 0; i < std::min(rank, tensor->shape.size()); ++i)
    symbols[i] = call.answer<const char*>("");
  return nullptr;
}
inline bool TensorTypeAndShape_HasShape(const abi::TensorTypeAndShapeInfo*) {
  LB_CALL;
  return call.answer(true);
}
inline abi::Status* KernelContext_GetInput(const abi::KernelContext* context, std::size_t index,
                                           const abi::Value** value) {
  LB_FALLIBLE;
  call.give<const abi::Value*>(value, context->inputs.at(index).get());
  return nullptr;
}
inline abi::Status* KernelContext_GetOutput(abi::KernelContext* context, std::size_t index, const std::int64_t* shape,
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
inline abi::Status* CreateOpAttr(const char* name, const void* data, int count, abi::OpAttrType type,
                                 abi::OpAttr** made) {
  LB_FALLIBLE;
  if (call.lies()) {
    *made = nullptr;
    return nullptr;
  }
  const std::size_t size = static_cast<std::size_t>(count) * (type == abi::kAttrString ? 1 : sizeof(std::int64_t));
  *made = born("OpAttr", new abi::OpAttr{{name, type, std::string(static_cast<const char*>(data), size)}});
  return nullptr;
}
inline void ReleaseOpAttr(abi::OpAttr* attribute) {
  const Spared spared;
  dies("OpAttr", attribute);
}
inline abi::Status* Logger_LogMessage(const abi::Logger* logger, abi::LoggingLevel, const char* text,
                                      const abi::PathChar*, int, const char*) {
  LB_FALLIBLE;
  auto& to = const_cast<abi::Logger&>(*logger);
  const std::lock_guard lock(to.mutex);
  to.lines.emplace_back(text);
  return nullptr;
}
inline abi::Status* ReadOpAttr(const abi::OpAttr* attribute, abi::OpAttrType type, void* data, std::size_t room,
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
inline abi::Status* GetValueInfoName(const abi::ValueInfo* value, const char** name) {
  LB_FALLIBLE;
  call.give(name, value->name.c_str());
  return nullptr;
}
inline abi::Status* GetValueInfoTypeInfo(const abi::ValueInfo* value, const abi::TypeInfo** type) {
  LB_FALLIBLE;
  call.give(type, &value->type);
  return nullptr;
}
inline void CreateKeyValuePairs(abi::KeyValuePairs** made) {
  LB_CALL;
  *made = call.fails() || call.lies() ? nullptr : born("KeyValuePairs", new abi::KeyValuePairs);
}
inline void AddKeyValuePair(abi::KeyValuePairs* pairs, const char* key, const char* value) {
  const Spared spared;
  pairs->entries[key] = value;
}
inline const char* GetKeyValue(const abi::KeyValuePairs* pairs, const char* key) {
  LB_CALL;
  const auto found = pairs->entries.find(key);
  return call.answer(found != pairs->entries.end() ? found->second.c_str() : nullptr);
}
inline void GetKeyValuePairs(const abi::KeyValuePairs* pairs, const char* const** keys, const char* const** values,
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
inline void ReleaseKeyValuePairs(abi::KeyValuePairs* pairs) {
  const Spared spared;
  dies("KeyValuePairs", pairs);
}
inline abi::HardwareDeviceType HardwareDevice_Type(const abi::HardwareDevice* hardware) {
  LB_CALL;
  return call.answer(hardware->type);
}
inline abi::Status* ValueInfo_GetInitializerValue(const abi::ValueInfo* value, const abi::Value** initializer) {
  LB_FALLIBLE;
  call.give(initializer, value->initializer);
  return nullptr;
}
// All are in memory: none is in a file of its own.
inline abi::Status* ValueInfo_GetExternalInitializerInfo(const abi::ValueInfo* /*value*/,
                                                         abi::ExternalInitializerInfo** info) {
  LB_FALLIBLE;
  call.give(info, static_cast<abi::ExternalInitializerInfo*>(nullptr));
  return nullptr;
}
inline void ReleaseExternalInitializerInfo(abi::ExternalInitializerInfo* /*info*/) {}
inline const abi::PathChar* ExternalInitializerInfo_GetFilePath(const abi::ExternalInitializerInfo* /*info*/) {
  return nullptr;
}
inline std::int64_t ExternalInitializerInfo_GetFileOffset(const abi::ExternalInitializerInfo* /*info*/) {
  return 0;
}
inline std::size_t ExternalInitializerInfo_GetByteSize(const abi::ExternalInitializerInfo* /*info*/) {
  return 0;
}
inline abi::Status* ValueInfo_IsConstantInitializer(const abi::ValueInfo* value, bool* is_constant) {
  LB_FALLIBLE;
  call.give(is_constant, value->initializer != nullptr);
  return nullptr;
}

}  // namespace latebind::test::host
