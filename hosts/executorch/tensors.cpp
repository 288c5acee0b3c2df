#include "hosts/executorch/tensors.h"

#include <array>
#include <cstring>

#include "formats/pte/scalar_types.h"

namespace latebind::delegate {

using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;

std::optional<std::int32_t> type_of(ScalarType type) {
  const SharedType* shared = shared_type(static_cast<std::int8_t>(type));
  return shared != nullptr ? std::optional(shared->lb_type) : std::nullopt;
}

std::string type_name(std::int32_t type) {
  const SharedType* shared = shared_type_of_lb(type);
  return std::string(shared != nullptr ? shared->name : "?");
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

void copy_to_order(const lb_tensor& from, const Tensor& to) {
  const auto rank = static_cast<std::size_t>(from.rank);
  const SharedType* type = shared_type_of_lb(from.type);
  if (type == nullptr) return;
  const std::size_t element = type->bytes;
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
