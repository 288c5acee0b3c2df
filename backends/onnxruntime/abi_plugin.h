// The newer part of ONNX Runtime's C interface: plugin execution providers, their devices, and the compiler.
//
// Every slot here is optional: the table of an older library ends before it. Callers check has_devices(),
// has_assignment() or has_compiler() first, and errors say which version is needed. tests/onnxruntime/abi_test.cpp pins
// this part as it pins abi.h.
// tests/onnxruntime/abi_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/onnxruntime/abi.h"

namespace latebind::onnxruntime::abi {

struct KeyValuePairs;
struct EpDevice;        // a provider together with the hardware that it drives; owned by the environment
struct HardwareDevice;  // owned by the environment
struct ModelCompilationOptions;
struct EpAssignedSubgraph;  // the part of a session's model that a provider took; owned by the session, like
                            // EpAssignedNode
struct EpAssignedNode;
struct CompileApi;  // a separate table; see LB_ONNXRUNTIME_COMPILE

enum HardwareDeviceType : int { kHardwareCpu = 0, kHardwareGpu = 1, kHardwareNpu = 2 };
enum CompiledModelCompatibility : int {
  kNotApplicable = 0,
  kOptimal = 1,
  kPreferRecompilation = 2,
  kNotCompatible = 3,
};

// Flags of ModelCompilationOptions_SetFlags.
inline constexpr std::uint32_t kErrorIfNoNodesCompiled = 1;

// X(slot, name, since, result, parameters), as in abi.h.
#define LB_ONNXRUNTIME_PLUGIN(X)                                                                                       \
  X(294, GetCompileApi, 22, const CompileApi*, ())                                                                     \
  X(298, GetKeyValuePairs, 22, void, (const KeyValuePairs*, const char* const**, const char* const**, std::size_t*))   \
  X(301, RegisterExecutionProviderLibrary, 22, Status*, (Env*, const char*, const PathChar*))                          \
  X(303, GetEpDevices, 22, Status*, (const Env*, const EpDevice* const**, std::size_t*))                               \
  X(304, SessionOptionsAppendExecutionProvider_V2, 22, Status*,                                                        \
    (SessionOptions*, Env*, const EpDevice* const*, std::size_t, const char* const*, const char* const*, std::size_t)) \
  X(307, HardwareDevice_Type, 22, HardwareDeviceType, (const HardwareDevice*))                                         \
  X(308, HardwareDevice_VendorId, 22, std::uint32_t, (const HardwareDevice*))                                          \
  X(309, HardwareDevice_Vendor, 22, const char*, (const HardwareDevice*))                                              \
  X(310, HardwareDevice_DeviceId, 22, std::uint32_t, (const HardwareDevice*))                                          \
  X(311, HardwareDevice_Metadata, 22, const KeyValuePairs*, (const HardwareDevice*))                                   \
  X(312, EpDevice_EpName, 22, const char*, (const EpDevice*))                                                          \
  X(313, EpDevice_EpVendor, 22, const char*, (const EpDevice*))                                                        \
  X(314, EpDevice_EpMetadata, 22, const KeyValuePairs*, (const EpDevice*))                                             \
  X(316, EpDevice_Device, 22, const HardwareDevice*, (const EpDevice*))                                                \
  X(388, GetModelCompatibilityForEpDevices, 23, Status*,                                                               \
    (const EpDevice* const*, std::size_t, const char*, CompiledModelCompatibility*))                                   \
  X(407, Session_GetEpGraphAssignmentInfo, 24, Status*,                                                                \
    (const Session*, const EpAssignedSubgraph* const**, std::size_t*))                                                 \
  X(408, EpAssignedSubgraph_GetEpName, 24, Status*, (const EpAssignedSubgraph*, const char**))                         \
  X(409, EpAssignedSubgraph_GetNodes, 24, Status*,                                                                     \
    (const EpAssignedSubgraph*, const EpAssignedNode* const**, std::size_t*))                                          \
  X(410, EpAssignedNode_GetName, 24, Status*, (const EpAssignedNode*, const char**))                                   \
  X(412, EpAssignedNode_GetOperatorType, 24, Status*, (const EpAssignedNode*, const char**))

// The slots of the table that GetCompileApi returns.
#define LB_ONNXRUNTIME_COMPILE(X)                                                                            \
  X(0, ReleaseModelCompilationOptions, 0, void, (ModelCompilationOptions*))                                  \
  X(1, CreateModelCompilationOptionsFromSessionOptions, 22, Status*,                                         \
    (const Env*, const SessionOptions*, ModelCompilationOptions**))                                          \
  X(2, ModelCompilationOptions_SetInputModelPath, 22, Status*, (ModelCompilationOptions*, const PathChar*))  \
  X(3, ModelCompilationOptions_SetInputModelFromBuffer, 22, Status*,                                         \
    (ModelCompilationOptions*, const void*, std::size_t))                                                    \
  X(4, ModelCompilationOptions_SetOutputModelPath, 22, Status*, (ModelCompilationOptions*, const PathChar*)) \
  X(7, ModelCompilationOptions_SetEpContextEmbedMode, 22, Status*, (ModelCompilationOptions*, bool))         \
  X(8, CompileModel, 22, Status*, (const Env*, const ModelCompilationOptions*))                              \
  X(9, ModelCompilationOptions_SetFlags, 23, Status*, (ModelCompilationOptions*, std::uint32_t))             \
  X(11, ModelCompilationOptions_SetGraphOptimizationLevel, 23, Status*,                                      \
    (ModelCompilationOptions*, GraphOptimizationLevel))

struct PluginApi {
#define LB_DECLARE(slot, name, since, result, parameters) result(*name) parameters = nullptr;
  LB_ONNXRUNTIME_PLUGIN(LB_DECLARE)
  LB_ONNXRUNTIME_COMPILE(LB_DECLARE)
#undef LB_DECLARE

  // Whether providers can be registered, and their devices listed and used.
  [[nodiscard]] bool has_devices() const {
    return GetKeyValuePairs != nullptr && RegisterExecutionProviderLibrary != nullptr && GetEpDevices != nullptr &&
           SessionOptionsAppendExecutionProvider_V2 != nullptr && HardwareDevice_Type != nullptr &&
           HardwareDevice_VendorId != nullptr && HardwareDevice_Vendor != nullptr &&
           HardwareDevice_DeviceId != nullptr && HardwareDevice_Metadata != nullptr && EpDevice_EpName != nullptr &&
           EpDevice_EpVendor != nullptr && EpDevice_EpMetadata != nullptr && EpDevice_Device != nullptr;
  }
  // Whether a session reports which provider took which node.
  [[nodiscard]] bool has_assignment() const {
    return Session_GetEpGraphAssignmentInfo != nullptr && EpAssignedSubgraph_GetEpName != nullptr &&
           EpAssignedSubgraph_GetNodes != nullptr && EpAssignedNode_GetName != nullptr &&
           EpAssignedNode_GetOperatorType != nullptr;
  }
  // Whether models can be compiled for a provider.
  [[nodiscard]] bool has_compiler() const {
    return has_devices() && ReleaseModelCompilationOptions != nullptr &&
           CreateModelCompilationOptionsFromSessionOptions != nullptr &&
           ModelCompilationOptions_SetInputModelPath != nullptr &&
           ModelCompilationOptions_SetInputModelFromBuffer != nullptr &&
           ModelCompilationOptions_SetOutputModelPath != nullptr &&
           ModelCompilationOptions_SetEpContextEmbedMode != nullptr && CompileModel != nullptr &&
           ModelCompilationOptions_SetFlags != nullptr && ModelCompilationOptions_SetGraphOptimizationLevel != nullptr;
  }
};

// The versions 1.N that added these functions.
inline constexpr std::uint32_t kDevicesSince = 22;
inline constexpr std::uint32_t kCompilerSince = 23;

}  // namespace latebind::onnxruntime::abi
