#include "backends/onnxruntime/element_types.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace latebind::onnxruntime {
namespace {

using core::ElementType;

constexpr std::array kTypes{
    std::pair{ElementType::kBool, abi::kBool},     std::pair{ElementType::kI8, abi::kInt8},
    std::pair{ElementType::kU8, abi::kUint8},      std::pair{ElementType::kI16, abi::kInt16},
    std::pair{ElementType::kU16, abi::kUint16},    std::pair{ElementType::kI32, abi::kInt32},
    std::pair{ElementType::kU32, abi::kUint32},    std::pair{ElementType::kI64, abi::kInt64},
    std::pair{ElementType::kU64, abi::kUint64},    std::pair{ElementType::kF16, abi::kFloat16},
    std::pair{ElementType::kBF16, abi::kBfloat16}, std::pair{ElementType::kF32, abi::kFloat},
    std::pair{ElementType::kF64, abi::kDouble},
};

}  // namespace

abi::TensorElementDataType vendor_type(ElementType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == type) return theirs;
  }
  return abi::kUndefined;
}

std::optional<ElementType> element_type(abi::TensorElementDataType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

std::string vendor_type_name(abi::TensorElementDataType type) {
  if (const auto known = element_type(type)) return std::string(core::name_of(*known));
  if (type == abi::kString) return "string";
  if (type == abi::kComplex64 || type == abi::kComplex128) return "complex";
  return fmt::format("element type {}", static_cast<int>(type));
}

}  // namespace latebind::onnxruntime
