#include "hosts/executorch/delegate/tensors.h"

#include <array>
#include <cstring>

namespace latebind::delegate {

using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;

std::optional<std::int32_t> type_of(ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
      return LB_BOOL;
    case ScalarType::Char:
      return LB_I8;
    case ScalarType::Byte:
      return LB_U8;
    case ScalarType::Short:
      return LB_I16;
    case ScalarType::UInt16:
      return LB_U16;
    case ScalarType::Int:
      return LB_I32;
    case ScalarType::UInt32:
      return LB_U32;
    case ScalarType::Long:
      return LB_I64;
    case ScalarType::UInt64:
      return LB_U64;
    case ScalarType::Half:
      return LB_F16;
    case ScalarType::BFloat16:
      return LB_BF16;
    case ScalarType::Float:
      return LB_F32;
    case ScalarType::Double:
      return LB_F64;
    default:
      return std::nullopt;
  }
}

const char* type_name(std::int32_t type) {
  constexpr std::array kNames{"?",   "bool", "i8",  "u8",  "i16",  "u16", "i32",
                              "u32", "i64",  "u64", "f16", "bf16", "f32", "f64"};
  return type > 0 && static_cast<std::size_t>(type) < kNames.size() ? kNames[static_cast<std::size_t>(type)] : "?";
}

std::string type_name(ScalarType type) {
  if (const auto known = type_of(type)) return type_name(*known);
  return "ScalarType " + std::to_string(static_cast<int>(type));
}

std::string shape_text(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    text += dims[i] == LB_DYNAMIC ? "?" : std::to_string(dims[i]);
  }
  return text + "]";
}

std::string shape_text(const Tensor& tensor) {
  std::string text = "[";
  for (ssize_t i = 0; i < tensor.dim(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(tensor.size(i));
  return text + "]";
}

bool is_row_major(const Tensor& tensor) {
  const auto order = tensor.dim_order();
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != i) return false;
  return true;
}

std::size_t element_bytes(std::int32_t type) {
  switch (type) {
    case LB_BOOL:
    case LB_I8:
    case LB_U8:
      return 1;
    case LB_I16:
    case LB_U16:
    case LB_F16:
    case LB_BF16:
      return 2;
    case LB_I32:
    case LB_U32:
    case LB_F32:
      return 4;
    default:
      return 8;
  }
}

void copy_to_order(const lb_tensor& from, const Tensor& to) {
  const auto rank = static_cast<std::size_t>(from.rank);
  const std::size_t element = element_bytes(from.type);
  const auto strides = to.strides();
  const auto* source = static_cast<const std::byte*>(from.data);
  auto* target = static_cast<std::byte*>(to.mutable_data_ptr());
  std::size_t count = 1;
  for (std::size_t d = 0; d < rank; ++d)
    count *= static_cast<std::size_t>(from.shape[d]);
  std::array<std::int64_t, LB_RANK_MAX> index{};
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d)
      offset += static_cast<std::size_t>(index[d] * strides[d]);
    std::memcpy(target + offset * element, source + i * element, element);
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < from.shape[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace latebind::delegate
