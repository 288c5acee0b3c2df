// The part of ONNX Runtime's C interface that Latebind uses, in its own declarations, so that no vendor header is
// needed.
//
// The library exports one symbol, OrtGetApiBase, which leads to a table of functions. The table has only ever grown at
// its end, so a function's slot never changes; each line below gives the version 1.N (as N) that added its slot.
// tests/onnxruntime/abi_test.cpp compares these tables with the vendor's header, slot by slot and parameter by
// parameter.
//
// abi_plugin.h has the functions that were added after the oldest supported version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace latebind::onnxruntime::abi {

// The versions 1.N of the interface that this code is written for. A newer library offers older versions as well.
inline constexpr std::uint32_t kOldestApi = 20;
inline constexpr std::uint32_t kNewestApi = 31;

// The vendor's opaque objects.
struct Env;
struct Status;  // null means success
struct Session;
struct SessionOptions;
struct RunOptions;
struct Value;
struct MemoryInfo;
struct Allocator;
struct TypeInfo;
struct TensorTypeAndShapeInfo;

// As in std::filesystem::path: UTF-16 on Windows, bytes elsewhere.
using PathChar = std::filesystem::path::value_type;

enum ErrorCode : int {
  kOk = 0,
  kFail = 1,
  kInvalidArgument = 2,
  kNoSuchFile = 3,
  kNoModel = 4,
  kEngineError = 5,
  kRuntimeException = 6,
  kInvalidProtobuf = 7,
  kModelLoaded = 8,
  kNotImplemented = 9,
  kInvalidGraph = 10,
  kEpFail = 11,
};

enum TensorElementDataType : int {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
};

enum ValueType : int { kUnknownValue = 0, kTensorValue = 1 };
enum LoggingLevel : int { kLogVerbose = 0, kLogInfo = 1, kLogWarning = 2, kLogError = 3, kLogFatal = 4 };
enum GraphOptimizationLevel : int { kDisableAll = 0, kEnableBasic = 1, kEnableExtended = 2, kEnableAll = 99 };
enum ExecutionMode : int { kSequential = 0 };
enum AllocatorType : int { kDeviceAllocator = 0, kArenaAllocator = 1 };
enum MemType : int { kMemTypeDefault = 0 };

// The vendor calls it from any of its threads.
using LoggingFunction = void (*)(void* param, LoggingLevel severity, const char* category, const char* logid,
                                 const char* code_location, const char* message);

// X(slot, name, since, result, parameters)
#define LB_ONNXRUNTIME_REQUIRED(X)                                                                                   \
  X(1, GetErrorCode, 0, ErrorCode, (const Status*))                                                                  \
  X(2, GetErrorMessage, 0, const char*, (const Status*))                                                             \
  X(4, CreateEnvWithCustomLogger, 0, Status*, (LoggingFunction, void*, LoggingLevel, const char*, Env**))            \
  X(6, DisableTelemetryEvents, 0, Status*, (const Env*))                                                             \
  X(7, CreateSession, 0, Status*, (const Env*, const PathChar*, const SessionOptions*, Session**))                   \
  X(8, CreateSessionFromArray, 0, Status*, (const Env*, const void*, std::size_t, const SessionOptions*, Session**)) \
  X(9, Run, 0, Status*,                                                                                              \
    (Session*, const RunOptions*, const char* const*, const Value* const*, std::size_t, const char* const*,          \
     std::size_t, Value**))                                                                                          \
  X(10, CreateSessionOptions, 0, Status*, (SessionOptions**))                                                        \
  X(11, SetOptimizedModelFilePath, 0, Status*, (SessionOptions*, const PathChar*))                                   \
  X(13, SetSessionExecutionMode, 0, Status*, (SessionOptions*, ExecutionMode))                                       \
  X(17, DisableMemPattern, 0, Status*, (SessionOptions*))                                                            \
  X(23, SetSessionGraphOptimizationLevel, 0, Status*, (SessionOptions*, GraphOptimizationLevel))                     \
  X(24, SetIntraOpNumThreads, 0, Status*, (SessionOptions*, int))                                                    \
  X(25, SetInterOpNumThreads, 0, Status*, (SessionOptions*, int))                                                    \
  X(30, SessionGetInputCount, 0, Status*, (const Session*, std::size_t*))                                            \
  X(31, SessionGetOutputCount, 0, Status*, (const Session*, std::size_t*))                                           \
  X(33, SessionGetInputTypeInfo, 0, Status*, (const Session*, std::size_t, TypeInfo**))                              \
  X(34, SessionGetOutputTypeInfo, 0, Status*, (const Session*, std::size_t, TypeInfo**))                             \
  X(36, SessionGetInputName, 0, Status*, (const Session*, std::size_t, Allocator*, char**))                          \
  X(37, SessionGetOutputName, 0, Status*, (const Session*, std::size_t, Allocator*, char**))                         \
  X(39, CreateRunOptions, 0, Status*, (RunOptions**))                                                                \
  X(46, RunOptionsSetTerminate, 0, Status*, (RunOptions*))                                                           \
  X(49, CreateTensorWithDataAsOrtValue, 0, Status*,                                                                  \
    (const MemoryInfo*, void*, std::size_t, const std::int64_t*, std::size_t, TensorElementDataType, Value**))       \
  X(50, IsTensor, 0, Status*, (const Value*, int*))                                                                  \
  X(51, GetTensorMutableData, 0, Status*, (Value*, void**))                                                          \
  X(55, CastTypeInfoToTensorInfo, 0, Status*, (const TypeInfo*, const TensorTypeAndShapeInfo**))                     \
  X(56, GetOnnxTypeFromTypeInfo, 0, Status*, (const TypeInfo*, ValueType*))                                          \
  X(60, GetTensorElementType, 0, Status*, (const TensorTypeAndShapeInfo*, TensorElementDataType*))                   \
  X(61, GetDimensionsCount, 0, Status*, (const TensorTypeAndShapeInfo*, std::size_t*))                               \
  X(62, GetDimensions, 0, Status*, (const TensorTypeAndShapeInfo*, std::int64_t*, std::size_t))                      \
  X(63, GetSymbolicDimensions, 0, Status*, (const TensorTypeAndShapeInfo*, const char**, std::size_t))               \
  X(65, GetTensorTypeAndShape, 0, Status*, (const Value*, TensorTypeAndShapeInfo**))                                 \
  X(69, CreateCpuMemoryInfo, 0, Status*, (AllocatorType, MemType, MemoryInfo**))                                     \
  X(76, AllocatorFree, 0, Status*, (Allocator*, void*))                                                              \
  X(78, GetAllocatorWithDefaultOptions, 0, Status*, (Allocator**))                                                   \
  X(92, ReleaseEnv, 0, void, (Env*))                                                                                 \
  X(93, ReleaseStatus, 0, void, (Status*))                                                                           \
  X(94, ReleaseMemoryInfo, 0, void, (MemoryInfo*))                                                                   \
  X(95, ReleaseSession, 0, void, (Session*))                                                                         \
  X(96, ReleaseValue, 0, void, (Value*))                                                                             \
  X(97, ReleaseRunOptions, 0, void, (RunOptions*))                                                                   \
  X(98, ReleaseTypeInfo, 0, void, (TypeInfo*))                                                                       \
  X(99, ReleaseTensorTypeAndShapeInfo, 0, void, (TensorTypeAndShapeInfo*))                                           \
  X(100, ReleaseSessionOptions, 0, void, (SessionOptions*))                                                          \
  X(124, AddFreeDimensionOverrideByName, 0, Status*, (SessionOptions*, const char*, std::int64_t))                   \
  X(125, GetAvailableProviders, 0, Status*, (char***, int*))                                                         \
  X(126, ReleaseAvailableProviders, 0, Status*, (char**, int))                                                       \
  X(130, AddSessionConfigEntry, 0, Status*, (SessionOptions*, const char*, const char*))                             \
  X(210, AddExternalInitializers, 12, Status*,                                                                       \
    (SessionOptions*, const char* const*, const Value* const*, std::size_t))                                         \
  X(279, AddExternalInitializersFromFilesInMemory, 18, Status*,                                                      \
    (SessionOptions*, const PathChar* const*, char* const*, const std::size_t*, std::size_t))

// Optional functions: null if the library is older than the slot.
#define LB_ONNXRUNTIME_OPTIONAL(X) X(390, TensorTypeAndShape_HasShape, 24, bool, (const TensorTypeAndShapeInfo*))

struct Api {
#define LB_DECLARE(slot, name, since, result, parameters) result(*name) parameters = nullptr;
  LB_ONNXRUNTIME_REQUIRED(LB_DECLARE)
  LB_ONNXRUNTIME_OPTIONAL(LB_DECLARE)
#undef LB_DECLARE
};

// One slot of the vendor's table.
using Slot = void (*)();

// The object that OrtGetApiBase returns.
struct ApiBase {
  // Returns the table for version 1.N, or null.
  const Slot* (*GetApi)(std::uint32_t version);
  const char* (*GetVersionString)();
};
using GetApiBase = const ApiBase* (*)();
inline constexpr const char* kEntryPoint = "OrtGetApiBase";

}  // namespace latebind::onnxruntime::abi
