#include "backends/onnxruntime/element_types.h"

#include <fmt/format.h>

#include "core/graph/onnx_types.h"

namespace latebind::onnxruntime {

using core::ElementType;

abi::TensorElementDataType vendor_type(ElementType type) {
  return static_cast<abi::TensorElementDataType>(graph::onnx_type(type));
}

std::optional<ElementType> element_type(abi::TensorElementDataType type) {
  return graph::element_type_of_onnx(type);
}

std::string vendor_type_name(abi::TensorElementDataType type) {
  if (const auto known = element_type(type)) return std::string(core::name_of(*known));
  if (type == abi::kString) return "string";
  if (type == abi::kComplex64 || type == abi::kComplex128) return "complex";
  return fmt::format("element type {}", static_cast<int>(type));
}

}  // namespace latebind::onnxruntime
