// Only has to compile: Latebind's own declarations (backends/openvino/abi.h) against the vendor's headers, where some
// are installed. Every function must have the same parameters, as far as a machine can tell them apart, and every
// struct the same layout.
#include <openvino/c/openvino.h>

#include <type_traits>

#include "backends/openvino/abi.h"
#include "backends/openvino/element_types.h"

namespace latebind::openvino {
namespace {

// The same to a caller: pointers are pointers, numbers have one size and sign, structs one size and alignment.
template <class Ours, class Theirs>
constexpr bool same_value() {
  if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>) {
    return std::is_void_v<Ours> && std::is_void_v<Theirs>;
  } else if constexpr (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>) {
    return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  } else if constexpr (std::is_enum_v<Theirs>) {
    return same_value<Ours, std::underlying_type_t<Theirs>>();
  } else if constexpr (std::is_integral_v<Ours> && std::is_integral_v<Theirs>) {
    // NOLINTNEXTLINE(misc-redundant-expression): where both are the same type, it is
    return sizeof(Ours) == sizeof(Theirs) && std::is_signed_v<Ours> == std::is_signed_v<Theirs>;
  } else {
    return std::is_class_v<Ours> && std::is_class_v<Theirs> && sizeof(Ours) == sizeof(Theirs) &&
           // NOLINTNEXTLINE(misc-redundant-expression): as above
           alignof(Ours) == alignof(Theirs) && std::is_trivially_copyable_v<Ours>;
  }
}

template <class Ours, class Theirs>
struct SameFunction : std::false_type {};
template <class R1, class... A1, class R2, class... A2>
requires(sizeof...(A1) == sizeof...(A2)) struct SameFunction<R1 (*)(A1...), R2 (*)(A2...)>
    : std::bool_constant<same_value<R1, R2>() && (same_value<A1, A2>() && ...)> {
};
template <class R1, class... A1, class R2, class... A2>
requires(sizeof...(A1) == sizeof...(A2)) struct SameFunction<R1 (*)(A1..., ...), R2 (*)(A2..., ...)>
    : std::bool_constant<same_value<R1, R2>() && (same_value<A1, A2>() && ...)> {
};

#define LB_CHECK(name, result, parameters)                                   \
  static_assert(SameFunction<decltype(abi::Api::name), decltype(&::name)>(), \
                #name " is not declared as the vendor declares it");
LB_OPENVINO_REQUIRED(LB_CHECK)
LB_OPENVINO_OPTIONAL(LB_CHECK)
#undef LB_CHECK

#define LB_SAME_MEMBER(Ours, ours, Theirs, theirs)                                    \
  static_assert(sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs) && \
                offsetof(Ours, ours) == offsetof(Theirs, theirs) && sizeof(Ours::ours) == sizeof(Theirs::theirs))
LB_SAME_MEMBER(abi::Version, build_number, ov_version_t, buildNumber);
LB_SAME_MEMBER(abi::Version, description, ov_version_t, description);
LB_SAME_MEMBER(abi::Devices, names, ov_available_devices_t, devices);
LB_SAME_MEMBER(abi::Devices, size, ov_available_devices_t, size);
LB_SAME_MEMBER(abi::Shape, rank, ov_shape_t, rank);
LB_SAME_MEMBER(abi::Shape, dims, ov_shape_t, dims);
LB_SAME_MEMBER(abi::Dimension, min, ov_dimension_t, min);
LB_SAME_MEMBER(abi::Dimension, max, ov_dimension_t, max);
LB_SAME_MEMBER(abi::PartialShape, rank, ov_partial_shape_t, rank);
LB_SAME_MEMBER(abi::PartialShape, dims, ov_partial_shape_t, dims);

static_assert(abi::kOk == OK && abi::kResultNotReady == RESULT_NOT_READY && abi::kInferCancelled == INFER_CANCELLED &&
              abi::kInvalidParameter == INVALID_C_PARAM);

// The numbers as from 2025.1 on, which is what these headers are expected to be.
static_assert(DYNAMIC == 0 && BOOLEAN == 1 && BF16 == 2 && F16 == 3 && F32 == 4 && F64 == 5 && I8 == 7 && I16 == 8 &&
              I32 == 9 && I64 == 10 && U8 == 16 && U16 == 17 && U32 == 18 && U64 == 19 && STRING == 23);

}  // namespace
}  // namespace latebind::openvino
