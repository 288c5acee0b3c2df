// The part of ONNX Runtime's interface for plugin execution providers that Latebind uses, in its own declarations, so
// that no vendor header is needed.
//
// Tables of functions have only ever grown at their end, so a slot never changes; each line gives the version 1.N (as
// N) that added its slot. Structs that Latebind fills for the host have the layout of version 1.24 and say so
// (ort_version_supported). tests/hosts/onnxruntime/abi compares everything with the vendor's headers at compile time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace latebind::provider::abi {

// The version 1.N of the layouts; older hosts are refused.
inline constexpr std::uint32_t kVersion = 24;

// The host's opaque objects.
struct Status;  // null means success
struct Logger;
struct KeyValuePairs;
struct HardwareDevice;
struct EpDevice;
struct SessionOptions;
struct RunOptions;
struct Graph;
struct Node;
struct ValueInfo;
struct TypeInfo;
struct TensorTypeAndShapeInfo;
struct OpAttr;
struct Value;
struct KernelContext;
struct GraphSupportInfo;
struct NodeComputeContext;
struct IncompatibilityDetails;
struct ExternalInitializerInfo;
struct MemoryInfo;
struct MemoryDevice;
struct Allocator;
struct DataTransferImpl;
struct SyncStreamImpl;
struct KernelRegistry;
struct EpApi;
struct EditorApi;

#ifdef _WIN32
using PathChar = wchar_t;
#else
using PathChar = char;
#endif

enum ErrorCode : int {
  kOk = 0,
  kFail = 1,
  kInvalidArgument = 2,
  kNoSuchFile = 3,
  kEngineError = 5,
  kRuntimeException = 6,
  kNotImplemented = 9,
  kInvalidGraph = 10,
  kEpFail = 11,
};
enum LoggingLevel : int { kVerbose = 0, kInfo = 1, kWarning = 2, kError = 3 };
enum HardwareDeviceType : int { kHardwareCpu = 0, kHardwareGpu = 1, kHardwareNpu = 2 };
enum Compatibility : int { kNotApplicable = 0, kOptimal = 1, kPreferRecompilation = 2, kUnsupported = 3 };
enum OnnxType : int { kUnknownValue = 0, kTensorValue = 1 };
enum OpAttrType : int {
  kAttrUndefined = 0,
  kAttrInt = 1,
  kAttrInts = 2,
  kAttrFloat = 3,
  kAttrFloats = 4,
  kAttrString = 5,
  kAttrStrings = 6,
  kAttrGraph = 7,
  kAttrTensor = 8,
};
// The other types have the numbers of ONNX (core/graph/onnx_types.h).
enum ElementType : int { kString = 8 };
// Bits of a device's incompatibility.
inline constexpr std::uint32_t kDeviceIncompatible = 2;
inline constexpr std::uint32_t kMissingDependency = 4;

// X(slot, name, since, result, parameters)
#define LB_PROVIDER_API(X)                                                                                             \
  X(0, CreateStatus, 0, Status*, (ErrorCode, const char*))                                                             \
  X(2, GetErrorMessage, 0, const char*, (const Status*))                                                               \
  X(12, CloneSessionOptions, 0, Status*, (const SessionOptions*, SessionOptions**))                                    \
  X(49, CreateTensorWithDataAsOrtValue, 0, Status*,                                                                    \
    (const MemoryInfo*, void*, std::size_t, const std::int64_t*, std::size_t, ElementType, Value**))                   \
  X(51, GetTensorMutableData, 0, Status*, (Value*, void**))                                                            \
  X(55, CastTypeInfoToTensorInfo, 0, Status*, (const TypeInfo*, const TensorTypeAndShapeInfo**))                       \
  X(56, GetOnnxTypeFromTypeInfo, 0, Status*, (const TypeInfo*, OnnxType*))                                             \
  X(60, GetTensorElementType, 0, Status*, (const TensorTypeAndShapeInfo*, ElementType*))                               \
  X(61, GetDimensionsCount, 0, Status*, (const TensorTypeAndShapeInfo*, std::size_t*))                                 \
  X(62, GetDimensions, 0, Status*, (const TensorTypeAndShapeInfo*, std::int64_t*, std::size_t))                        \
  X(63, GetSymbolicDimensions, 0, Status*, (const TensorTypeAndShapeInfo*, const char**, std::size_t))                 \
  X(69, CreateCpuMemoryInfo, 0, Status*, (int, int, MemoryInfo**))                                                     \
  X(90, KernelContext_GetInput, 0, Status*, (const KernelContext*, std::size_t, const Value**))                        \
  X(91, KernelContext_GetOutput, 0, Status*, (KernelContext*, std::size_t, const std::int64_t*, std::size_t, Value**)) \
  X(93, ReleaseStatus, 0, void, (Status*))                                                                             \
  X(94, ReleaseMemoryInfo, 0, void, (MemoryInfo*))                                                                     \
  X(96, ReleaseValue, 0, void, (Value*))                                                                               \
  X(100, ReleaseSessionOptions, 0, void, (SessionOptions*))                                                            \
  X(150, AddInitializer, 8, Status*, (SessionOptions*, const char*, const Value*))                                     \
  X(211, CreateOpAttr, 12, Status*, (const char*, const void*, int, OpAttrType, OpAttr**))                             \
  X(212, ReleaseOpAttr, 12, void, (OpAttr*))                                                                           \
  X(247, Logger_LogMessage, 15, Status*,                                                                               \
    (const Logger*, LoggingLevel, const char*, const PathChar*, int, const char*))                                     \
  X(272, ReadOpAttr, 17, Status*, (const OpAttr*, OpAttrType, void*, std::size_t, std::size_t*))                       \
  X(289, GetValueInfoName, 22, Status*, (const ValueInfo*, const char**))                                              \
  X(290, GetValueInfoTypeInfo, 22, Status*, (const ValueInfo*, const TypeInfo**))                                      \
  X(291, GetModelEditorApi, 22, const EditorApi*, ())                                                                  \
  X(295, CreateKeyValuePairs, 22, void, (KeyValuePairs**))                                                             \
  X(296, AddKeyValuePair, 22, void, (KeyValuePairs*, const char*, const char*))                                        \
  X(297, GetKeyValue, 22, const char*, (const KeyValuePairs*, const char*))                                            \
  X(298, GetKeyValuePairs, 22, void, (const KeyValuePairs*, const char* const**, const char* const**, std::size_t*))   \
  X(300, ReleaseKeyValuePairs, 22, void, (KeyValuePairs*))                                                             \
  X(307, HardwareDevice_Type, 22, HardwareDeviceType, (const HardwareDevice*))                                         \
  X(317, GetEpApi, 22, const EpApi*, ())                                                                               \
  X(318, GetTensorSizeInBytes, 23, Status*, (const Value*, std::size_t*))                                              \
  X(326, ValueInfo_GetInitializerValue, 23, Status*, (const ValueInfo*, const Value**))                                \
  X(327, ValueInfo_GetExternalInitializerInfo, 23, Status*, (const ValueInfo*, ExternalInitializerInfo**))             \
  X(331, ValueInfo_IsConstantInitializer, 23, Status*, (const ValueInfo*, bool*))                                      \
  X(334, Graph_GetModelPath, 23, Status*, (const Graph*, const PathChar**))                                            \
  X(335, Graph_GetOnnxIRVersion, 23, Status*, (const Graph*, std::int64_t*))                                           \
  X(336, Graph_GetNumOperatorSets, 23, Status*, (const Graph*, std::size_t*))                                          \
  X(337, Graph_GetOperatorSets, 23, Status*, (const Graph*, const char**, std::int64_t*, std::size_t))                 \
  X(340, Graph_GetNumOutputs, 23, Status*, (const Graph*, std::size_t*))                                               \
  X(341, Graph_GetOutputs, 23, Status*, (const Graph*, const ValueInfo**, std::size_t))                                \
  X(344, Graph_GetNumNodes, 23, Status*, (const Graph*, std::size_t*))                                                 \
  X(345, Graph_GetNodes, 23, Status*, (const Graph*, const Node**, std::size_t))                                       \
  X(346, Graph_GetParentNode, 23, Status*, (const Graph*, const Node**))                                               \
  X(349, Node_GetName, 23, Status*, (const Node*, const char**))                                                       \
  X(350, Node_GetOperatorType, 23, Status*, (const Node*, const char**))                                               \
  X(351, Node_GetDomain, 23, Status*, (const Node*, const char**))                                                     \
  X(352, Node_GetSinceVersion, 23, Status*, (const Node*, int*))                                                       \
  X(353, Node_GetNumInputs, 23, Status*, (const Node*, std::size_t*))                                                  \
  X(354, Node_GetInputs, 23, Status*, (const Node*, const ValueInfo**, std::size_t))                                   \
  X(355, Node_GetNumOutputs, 23, Status*, (const Node*, std::size_t*))                                                 \
  X(356, Node_GetOutputs, 23, Status*, (const Node*, const ValueInfo**, std::size_t))                                  \
  X(357, Node_GetNumImplicitInputs, 23, Status*, (const Node*, std::size_t*))                                          \
  X(358, Node_GetImplicitInputs, 23, Status*, (const Node*, const ValueInfo**, std::size_t))                           \
  X(359, Node_GetNumAttributes, 23, Status*, (const Node*, std::size_t*))                                              \
  X(360, Node_GetAttributes, 23, Status*, (const Node*, const OpAttr**, std::size_t))                                  \
  X(361, Node_GetAttributeByName, 23, Status*, (const Node*, const char*, const OpAttr**))                             \
  X(362, OpAttr_GetTensorAttributeAsOrtValue, 23, Status*, (const OpAttr*, Value**))                                   \
  X(363, OpAttr_GetType, 23, Status*, (const OpAttr*, OpAttrType*))                                                    \
  X(364, OpAttr_GetName, 23, Status*, (const OpAttr*, const char**))                                                   \
  X(365, Node_GetNumSubgraphs, 23, Status*, (const Node*, std::size_t*))                                               \
  X(369, ReleaseExternalInitializerInfo, 23, void, (ExternalInitializerInfo*))                                         \
  X(370, ExternalInitializerInfo_GetFilePath, 23, const PathChar*, (const ExternalInitializerInfo*))                   \
  X(371, ExternalInitializerInfo_GetFileOffset, 23, std::int64_t, (const ExternalInitializerInfo*))                    \
  X(372, ExternalInitializerInfo_GetByteSize, 23, std::size_t, (const ExternalInitializerInfo*))                       \
  X(373, GetRunConfigEntry, 23, const char*, (const RunOptions*, const char*))                                         \
  X(378, GetTensorData, 23, Status*, (const Value*, const void**))                                                     \
  X(379, GetSessionOptionsConfigEntries, 23, Status*, (const SessionOptions*, KeyValuePairs**))                        \
  X(390, TensorTypeAndShape_HasShape, 24, bool, (const TensorTypeAndShapeInfo*))                                       \
  X(414, GetTensorElementTypeAndShapeDataReference, 24, Status*,                                                       \
    (const Value*, ElementType*, const std::int64_t**, std::size_t*))

struct EpFactory;
struct Ep;

// The slots of the table that GetEpApi returns.
#define LB_PROVIDER_EP_API(X)                                                                                \
  X(0, CreateEpDevice, 22, Status*,                                                                          \
    (EpFactory*, const HardwareDevice*, const KeyValuePairs*, const KeyValuePairs*, EpDevice**))             \
  X(1, ReleaseEpDevice, 0, void, (EpDevice*))                                                                \
  X(2, EpGraphSupportInfo_AddNodesToFuse, 23, Status*,                                                       \
    (GraphSupportInfo*, const Node* const*, std::size_t, const struct NodeFusionOptions*))                   \
  X(16, CreateHardwareDevice, 24, Status*,                                                                   \
    (HardwareDeviceType, std::uint32_t, std::uint32_t, const char*, const KeyValuePairs*, HardwareDevice**)) \
  X(17, ReleaseHardwareDevice, 0, void, (HardwareDevice*))                                                   \
  X(44, DeviceEpIncompatibilityDetails_SetDetails, 24, Status*,                                              \
    (IncompatibilityDetails*, std::uint32_t, std::int32_t, const char*))                                     \
  X(49, GetEnvConfigEntries, 24, Status*, (KeyValuePairs**))

// The slots of the table that GetModelEditorApi returns.
#define LB_PROVIDER_EDITOR_API(X)                                                                             \
  X(6, CreateNode, 22, Status*,                                                                               \
    (const char*, const char*, const char*, const char* const*, std::size_t, const char* const*, std::size_t, \
     OpAttr**, std::size_t, Node**))

// Latebind's copies of the tables' slots.
#define LB_DECLARE(slot, name, since, result, parameters) result(*name) parameters = nullptr;
struct Tables {
  LB_PROVIDER_API(LB_DECLARE)
  LB_PROVIDER_EP_API(LB_DECLARE)
  LB_PROVIDER_EDITOR_API(LB_DECLARE)
};
#undef LB_DECLARE

using Slot = void (*)();
struct ApiBase {
  const Slot* (*GetApi)(std::uint32_t version);  // null if the host is older
  const char* (*GetVersionString)();
};

// The structs that Latebind fills for the host.
struct NodeFusionOptions {
  std::uint32_t ort_version_supported;
  bool drop_constant_initializers;
};
struct NodeComputeInfo {
  std::uint32_t ort_version_supported;
  Status* (*CreateState)(NodeComputeInfo*, NodeComputeContext*, void**);
  Status* (*Compute)(NodeComputeInfo*, void*, KernelContext*);
  void (*ReleaseState)(NodeComputeInfo*, void*);
};
struct Ep {
  std::uint32_t ort_version_supported;
  const char* (*GetName)(const Ep*);
  Status* (*GetCapability)(Ep*, const Graph*, GraphSupportInfo*);
  Status* (*Compile)(Ep*, const Graph**, const Node**, std::size_t, NodeComputeInfo**, Node**);
  void (*ReleaseNodeComputeInfos)(Ep*, NodeComputeInfo**, std::size_t);
  Status* (*GetPreferredDataLayout)(Ep*, int*);
  Status* (*ShouldConvertDataLayoutForOp)(Ep*, const char*, const char*, int, int*);
  Status* (*SetDynamicOptions)(Ep*, const char* const*, const char* const*, std::size_t);
  Status* (*OnRunStart)(Ep*, const RunOptions*);
  Status* (*OnRunEnd)(Ep*, const RunOptions*, bool);
  Status* (*CreateAllocator)(Ep*, const MemoryInfo*, Allocator**);
  Status* (*CreateSyncStreamForDevice)(Ep*, const MemoryDevice*, SyncStreamImpl**);
  const char* (*GetCompiledModelCompatibilityInfo)(Ep*, const Graph*);
  Status* (*GetKernelRegistry)(Ep*, const KernelRegistry**);
  Status* (*IsConcurrentRunSupported)(Ep*, bool*);
};
struct EpFactory {
  std::uint32_t ort_version_supported;
  const char* (*GetName)(const EpFactory*);
  const char* (*GetVendor)(const EpFactory*);
  Status* (*GetSupportedDevices)(EpFactory*, const HardwareDevice* const*, std::size_t, EpDevice**, std::size_t,
                                 std::size_t*);
  Status* (*CreateEp)(EpFactory*, const HardwareDevice* const*, const KeyValuePairs* const*, std::size_t,
                      const SessionOptions*, const Logger*, Ep**);
  void (*ReleaseEp)(EpFactory*, Ep*);
  std::uint32_t (*GetVendorId)(const EpFactory*);
  const char* (*GetVersion)(const EpFactory*);
  Status* (*ValidateCompiledModelCompatibilityInfo)(EpFactory*, const HardwareDevice* const*, std::size_t, const char*,
                                                    Compatibility*);
  Status* (*CreateAllocator)(EpFactory*, const MemoryInfo*, const KeyValuePairs*, Allocator**);
  void (*ReleaseAllocator)(EpFactory*, Allocator*);
  Status* (*CreateDataTransfer)(EpFactory*, DataTransferImpl**);
  bool (*IsStreamAware)(const EpFactory*);
  Status* (*CreateSyncStreamForDevice)(EpFactory*, const MemoryDevice*, const KeyValuePairs*, SyncStreamImpl**);
  Status* (*GetHardwareDeviceIncompatibilityDetails)(EpFactory*, const HardwareDevice*, IncompatibilityDetails*);
  Status* (*CreateExternalResourceImporterForDevice)(EpFactory*, const EpDevice*, void**);
  Status* (*GetNumCustomOpDomains)(EpFactory*, std::size_t*);
  Status* (*GetCustomOpDomains)(EpFactory*, void**, std::size_t);
};

}  // namespace latebind::provider::abi
