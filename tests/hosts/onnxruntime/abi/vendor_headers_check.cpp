// Our declarations of ONNX Runtime's plugin interface, compared with the vendor's headers at API 24: the place and the
// signature of each slot, and the layout of each struct that we fill. Only has to compile.
#include <onnxruntime_c_api.h>

#include <cstddef>
#include <type_traits>

#include "core/graph/onnx_types.h"
#include "hosts/onnxruntime/abi.h"

namespace abi = latebind::provider::abi;

namespace {

// A type as it is passed: all pointers are alike, and so are all enumerations of C and ours.
template <class T>
struct Passed {
  using Type = std::conditional_t<std::is_pointer_v<T>, void*, std::conditional_t<std::is_enum_v<T>, int, T>>;
};
template <class T>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Type = typename Passed<R>::Type (*)(typename Passed<A>::Type...);
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class A, class B>
constexpr bool kSame = std::is_same_v<typename Signature<A>::Type, typename Signature<B>::Type>;

static_assert(abi::kVersion == ORT_API_VERSION);

#define LB_IS_SLOT(table, slot, name)                                                    \
  static_assert(offsetof(table, name) == (slot) * sizeof(void*), #name " is elsewhere"); \
  static_assert(kSame<decltype(abi::Tables::name), decltype(table::name)>, #name " takes something else");
#define LB_IS_API(slot, name, since, result, parameters) LB_IS_SLOT(OrtApi, slot, name)
#define LB_IS_EP_API(slot, name, since, result, parameters) LB_IS_SLOT(OrtEpApi, slot, name)
#define LB_IS_EDITOR_API(slot, name, since, result, parameters) LB_IS_SLOT(OrtModelEditorApi, slot, name)
LB_PROVIDER_API(LB_IS_API)
LB_PROVIDER_EP_API(LB_IS_EP_API)
LB_PROVIDER_EDITOR_API(LB_IS_EDITOR_API)

#define LB_IS_MEMBER(ours, theirs, name)                                                                \
  static_assert(offsetof(abi::ours, name) == offsetof(theirs, name), #ours "::" #name " is elsewhere"); \
  static_assert(kSame<decltype(abi::ours::name), decltype(theirs::name)>, #ours "::" #name " takes something else");

static_assert(sizeof(abi::EpFactory) == sizeof(OrtEpFactory));
LB_IS_MEMBER(EpFactory, OrtEpFactory, GetName)
LB_IS_MEMBER(EpFactory, OrtEpFactory, GetVendor)
LB_IS_MEMBER(EpFactory, OrtEpFactory, GetSupportedDevices)
LB_IS_MEMBER(EpFactory, OrtEpFactory, CreateEp)
LB_IS_MEMBER(EpFactory, OrtEpFactory, ReleaseEp)
LB_IS_MEMBER(EpFactory, OrtEpFactory, GetVendorId)
LB_IS_MEMBER(EpFactory, OrtEpFactory, GetVersion)
LB_IS_MEMBER(EpFactory, OrtEpFactory, ValidateCompiledModelCompatibilityInfo)
LB_IS_MEMBER(EpFactory, OrtEpFactory, CreateAllocator)
LB_IS_MEMBER(EpFactory, OrtEpFactory, ReleaseAllocator)
LB_IS_MEMBER(EpFactory, OrtEpFactory, CreateDataTransfer)
LB_IS_MEMBER(EpFactory, OrtEpFactory, IsStreamAware)
LB_IS_MEMBER(EpFactory, OrtEpFactory, CreateSyncStreamForDevice)
LB_IS_MEMBER(EpFactory, OrtEpFactory, GetHardwareDeviceIncompatibilityDetails)
LB_IS_MEMBER(EpFactory, OrtEpFactory, CreateExternalResourceImporterForDevice)
LB_IS_MEMBER(EpFactory, OrtEpFactory, GetNumCustomOpDomains)
LB_IS_MEMBER(EpFactory, OrtEpFactory, GetCustomOpDomains)

static_assert(sizeof(abi::Ep) == sizeof(OrtEp));
LB_IS_MEMBER(Ep, OrtEp, GetName)
LB_IS_MEMBER(Ep, OrtEp, GetCapability)
LB_IS_MEMBER(Ep, OrtEp, Compile)
LB_IS_MEMBER(Ep, OrtEp, ReleaseNodeComputeInfos)
LB_IS_MEMBER(Ep, OrtEp, GetPreferredDataLayout)
LB_IS_MEMBER(Ep, OrtEp, ShouldConvertDataLayoutForOp)
LB_IS_MEMBER(Ep, OrtEp, SetDynamicOptions)
LB_IS_MEMBER(Ep, OrtEp, OnRunStart)
LB_IS_MEMBER(Ep, OrtEp, OnRunEnd)
LB_IS_MEMBER(Ep, OrtEp, CreateAllocator)
LB_IS_MEMBER(Ep, OrtEp, CreateSyncStreamForDevice)
LB_IS_MEMBER(Ep, OrtEp, GetCompiledModelCompatibilityInfo)
LB_IS_MEMBER(Ep, OrtEp, GetKernelRegistry)
LB_IS_MEMBER(Ep, OrtEp, IsConcurrentRunSupported)

static_assert(sizeof(abi::NodeComputeInfo) == sizeof(OrtNodeComputeInfo));
LB_IS_MEMBER(NodeComputeInfo, OrtNodeComputeInfo, CreateState)
LB_IS_MEMBER(NodeComputeInfo, OrtNodeComputeInfo, Compute)
LB_IS_MEMBER(NodeComputeInfo, OrtNodeComputeInfo, ReleaseState)
static_assert(sizeof(abi::NodeFusionOptions) == sizeof(OrtNodeFusionOptions));
static_assert(offsetof(abi::NodeFusionOptions, drop_constant_initializers) ==
              offsetof(OrtNodeFusionOptions, drop_constant_initializers));
static_assert(offsetof(abi::ApiBase, GetVersionString) == offsetof(OrtApiBase, GetVersionString));

#define LB_IS_NUMBER(ours, theirs) static_assert(static_cast<int>(abi::ours) == static_cast<int>(theirs));
LB_IS_NUMBER(kFail, ORT_FAIL)
LB_IS_NUMBER(kInvalidArgument, ORT_INVALID_ARGUMENT)
LB_IS_NUMBER(kNoSuchFile, ORT_NO_SUCHFILE)
LB_IS_NUMBER(kRuntimeException, ORT_RUNTIME_EXCEPTION)
LB_IS_NUMBER(kNotImplemented, ORT_NOT_IMPLEMENTED)
LB_IS_NUMBER(kInvalidGraph, ORT_INVALID_GRAPH)
LB_IS_NUMBER(kEpFail, ORT_EP_FAIL)
LB_IS_NUMBER(kInfo, ORT_LOGGING_LEVEL_INFO)
LB_IS_NUMBER(kWarning, ORT_LOGGING_LEVEL_WARNING)
LB_IS_NUMBER(kError, ORT_LOGGING_LEVEL_ERROR)
LB_IS_NUMBER(kHardwareCpu, OrtHardwareDeviceType_CPU)
LB_IS_NUMBER(kHardwareGpu, OrtHardwareDeviceType_GPU)
LB_IS_NUMBER(kHardwareNpu, OrtHardwareDeviceType_NPU)
LB_IS_NUMBER(kNotApplicable, OrtCompiledModelCompatibility_EP_NOT_APPLICABLE)
LB_IS_NUMBER(kOptimal, OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL)
LB_IS_NUMBER(kPreferRecompilation, OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION)
LB_IS_NUMBER(kUnsupported, OrtCompiledModelCompatibility_EP_UNSUPPORTED)
LB_IS_NUMBER(kTensorValue, ONNX_TYPE_TENSOR)
LB_IS_NUMBER(kAttrInt, ORT_OP_ATTR_INT)
LB_IS_NUMBER(kAttrInts, ORT_OP_ATTR_INTS)
LB_IS_NUMBER(kAttrFloat, ORT_OP_ATTR_FLOAT)
LB_IS_NUMBER(kAttrFloats, ORT_OP_ATTR_FLOATS)
LB_IS_NUMBER(kAttrString, ORT_OP_ATTR_STRING)
LB_IS_NUMBER(kAttrStrings, ORT_OP_ATTR_STRINGS)
LB_IS_NUMBER(kAttrGraph, ORT_OP_ATTR_GRAPH)
LB_IS_NUMBER(kAttrTensor, ORT_OP_ATTR_TENSOR)
LB_IS_NUMBER(kString, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
LB_IS_NUMBER(kDeviceIncompatible, OrtDeviceEpIncompatibility_DEVICE_INCOMPATIBLE)
LB_IS_NUMBER(kMissingDependency, OrtDeviceEpIncompatibility_MISSING_DEPENDENCY)

// Those that ONNX has, too.
#define LB_IS_TYPE(ours, theirs)                                                 \
  static_assert(latebind::graph::onnx_type(latebind::core::ElementType::ours) == \
                ONNX_TENSOR_ELEMENT_DATA_TYPE_##theirs);
LB_IS_TYPE(kBool, BOOL)
LB_IS_TYPE(kI8, INT8)
LB_IS_TYPE(kU8, UINT8)
LB_IS_TYPE(kI16, INT16)
LB_IS_TYPE(kU16, UINT16)
LB_IS_TYPE(kI32, INT32)
LB_IS_TYPE(kU32, UINT32)
LB_IS_TYPE(kI64, INT64)
LB_IS_TYPE(kU64, UINT64)
LB_IS_TYPE(kF16, FLOAT16)
LB_IS_TYPE(kBF16, BFLOAT16)
LB_IS_TYPE(kF32, FLOAT)
LB_IS_TYPE(kF64, DOUBLE)

}  // namespace
