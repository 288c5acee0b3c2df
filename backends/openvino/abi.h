// The binary interface of OpenVINO's C library in Latebind's own declarations: opaque types, the few structs that cross
// the boundary, and the table of functions that load.cpp fills.
//
// No vendor header is needed to build. The layouts have not changed from OpenVINO 2024.6 to 2026.4, and the
// static_asserts below pin them. If vendor headers are installed, tests/openvino compares the layouts and the type of
// every function with them. Only the numbers of the element types have changed; see element_types.h.
//
// Functions keep the vendor's names, so that they can be looked up in its documentation. The types are in a namespace,
// so that they do not clash with vendor headers that a host includes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace latebind::openvino::abi {

// Created and freed only by the library.
struct Core;
struct Model;
struct CompiledModel;
struct InferRequest;
struct Tensor;
struct ConstPort;  // an input or output of a model

// The result of nearly every function: zero, or a negative number such as those below.
using Code = std::int32_t;
inline constexpr Code kOk = 0;
inline constexpr Code kResultNotReady = -9;  // a wait reached its time limit
inline constexpr Code kInferCancelled = -13;
inline constexpr Code kInvalidParameter = -14;  // rejected before the C++ library was called; no error text is recorded

// A number whose meaning depends on the version; see element_types.h.
using ElementCode = std::uint32_t;

struct Version {
  const char* build_number;  // "2026.4.1-22982-…"
  const char* description;
};

struct Devices {
  char** names;
  std::size_t size;
};

struct Shape {
  std::int64_t rank;
  std::int64_t* dims;
};

// Bounds of a dimension, both inclusive; equal if it is static. max is -1 if there is no bound.
struct Dimension {
  std::int64_t min;
  std::int64_t max;
};

struct PartialShape {
  Dimension rank;
  Dimension* dims;
};

static_assert(sizeof(void*) == 8, "Latebind supports only the 64-bit interface");
static_assert(std::is_standard_layout_v<Version> && sizeof(Version) == 16 && offsetof(Version, description) == 8);
static_assert(std::is_standard_layout_v<Devices> && sizeof(Devices) == 16 && offsetof(Devices, size) == 8);
static_assert(std::is_standard_layout_v<Shape> && sizeof(Shape) == 16 && offsetof(Shape, dims) == 8);
static_assert(std::is_standard_layout_v<Dimension> && sizeof(Dimension) == 16 && offsetof(Dimension, max) == 8);
static_assert(std::is_standard_layout_v<PartialShape> && sizeof(PartialShape) == 24 &&
              offsetof(PartialShape, dims) == 16);

// X(name, result, parameters). Required functions: all of them exist since 2024.6, the oldest accepted version.
#define LB_OPENVINO_REQUIRED(X)                                                                                   \
  X(ov_get_openvino_version, Code, (Version*))                                                                    \
  X(ov_version_free, void, (Version*))                                                                            \
  X(ov_get_error_info, const char*, (Code))                                                                       \
  X(ov_get_last_err_msg, const char*, ())                                                                         \
  X(ov_free, void, (const char*))                                                                                 \
  X(ov_core_create, Code, (Core**))                                                                               \
  X(ov_core_free, void, (Core*))                                                                                  \
  X(ov_core_get_available_devices, Code, (const Core*, Devices*))                                                 \
  X(ov_available_devices_free, void, (Devices*))                                                                  \
  X(ov_core_get_property, Code, (const Core*, const char* device, const char* key, char** value))                 \
  /* followed by one key and one value, both const char* */                                                       \
  X(ov_core_set_property, Code, (const Core*, const char* device, ...))                                           \
  X(ov_core_read_model, Code, (const Core*, const char* file, const char* weights_file, Model**))                 \
  X(ov_core_read_model_from_memory_buffer, Code, (const Core*, const char*, std::size_t, const Tensor*, Model**)) \
  /* followed by `strings` values of type const char*: key and value of each property */                          \
  X(ov_core_compile_model, Code,                                                                                  \
    (const Core*, const Model*, const char* device, std::size_t strings, CompiledModel**, ...))                   \
  X(ov_core_import_model, Code, (const Core*, const char*, std::size_t, const char* device, CompiledModel**))     \
  X(ov_model_free, void, (Model*))                                                                                \
  X(ov_model_inputs_size, Code, (const Model*, std::size_t*))                                                     \
  X(ov_model_reshape_by_port_indexes, Code, (const Model*, const std::size_t*, const PartialShape*, std::size_t)) \
  X(ov_compiled_model_free, void, (CompiledModel*))                                                               \
  X(ov_compiled_model_inputs_size, Code, (const CompiledModel*, std::size_t*))                                    \
  X(ov_compiled_model_input_by_index, Code, (const CompiledModel*, std::size_t, ConstPort**))                     \
  X(ov_compiled_model_outputs_size, Code, (const CompiledModel*, std::size_t*))                                   \
  X(ov_compiled_model_output_by_index, Code, (const CompiledModel*, std::size_t, ConstPort**))                    \
  X(ov_compiled_model_get_property, Code, (const CompiledModel*, const char* key, char** value))                  \
  X(ov_compiled_model_export_model, Code, (const CompiledModel*, const char* file))                               \
  X(ov_compiled_model_create_infer_request, Code, (const CompiledModel*, InferRequest**))                         \
  X(ov_output_const_port_free, void, (ConstPort*))                                                                \
  X(ov_port_get_any_name, Code, (const ConstPort*, char**))                                                       \
  X(ov_port_get_partial_shape, Code, (const ConstPort*, PartialShape*))                                           \
  X(ov_port_get_element_type, Code, (const ConstPort*, ElementCode*))                                             \
  X(ov_partial_shape_free, void, (PartialShape*))                                                                 \
  X(ov_shape_free, Code, (Shape*))                                                                                \
  X(ov_tensor_create_from_host_ptr, Code, (ElementCode, Shape, void*, Tensor**))                                  \
  X(ov_tensor_free, void, (Tensor*))                                                                              \
  X(ov_tensor_get_shape, Code, (const Tensor*, Shape*))                                                           \
  X(ov_tensor_get_byte_size, Code, (const Tensor*, std::size_t*))                                                 \
  X(ov_tensor_get_element_type, Code, (const Tensor*, ElementCode*))                                              \
  X(ov_tensor_data, Code, (const Tensor*, void**))                                                                \
  X(ov_infer_request_free, void, (InferRequest*))                                                                 \
  X(ov_infer_request_set_input_tensor_by_index, Code, (InferRequest*, std::size_t, const Tensor*))                \
  X(ov_infer_request_set_output_tensor_by_index, Code, (InferRequest*, std::size_t, const Tensor*))               \
  X(ov_infer_request_get_output_tensor_by_index, Code, (const InferRequest*, std::size_t, Tensor**))              \
  X(ov_infer_request_infer, Code, (InferRequest*))                                                                \
  X(ov_infer_request_start_async, Code, (InferRequest*))                                                          \
  X(ov_infer_request_wait_for, Code, (InferRequest*, std::int64_t timeout_ms))                                    \
  X(ov_infer_request_cancel, Code, (InferRequest*))

// X(name, result, parameters). Optional functions: null if the library lacks them, so every use checks.
#define LB_OPENVINO_OPTIONAL(X)                                                                   \
  /* since 2022.1, in builds with Unicode paths: the only way to open any file name on Windows */ \
  X(ov_core_read_model_unicode, Code, (const Core*, const wchar_t* file, const wchar_t* weights_file, Model**))

struct Api {
#define LB_SLOT(name, result, parameters) result(*name) parameters = nullptr;
  LB_OPENVINO_REQUIRED(LB_SLOT)
  LB_OPENVINO_OPTIONAL(LB_SLOT)
#undef LB_SLOT
};

}  // namespace latebind::openvino::abi
