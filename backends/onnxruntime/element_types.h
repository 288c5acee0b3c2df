// Conversion between Latebind's and the vendor's element types. Pure functions; any thread.
#pragma once

#include <optional>

#include "backends/onnxruntime/abi.h"
#include "core/tensor/tensor.h"

namespace latebind::onnxruntime {

[[nodiscard]] abi::TensorElementDataType vendor_type(core::ElementType type);
// std::nullopt for types that Latebind does not have: strings, complex numbers, 8-bit floats and smaller.
[[nodiscard]] std::optional<core::ElementType> element_type(abi::TensorElementDataType type);
// A name for messages: "string", or "element type 17".
[[nodiscard]] std::string vendor_type_name(abi::TensorElementDataType type);

}  // namespace latebind::onnxruntime
