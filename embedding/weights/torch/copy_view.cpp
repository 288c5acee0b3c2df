#include "embedding/weights/torch/copy_view.h"

#include <array>
#include <cstring>

#include "core/tensor/tensor.h"

namespace latebind::embedding {

void copy_view(std::span<const std::byte> elements, std::size_t element_size, std::span<const std::int64_t> shape,
               std::span<const std::int64_t> strides, std::byte* to) {
  std::array<std::int64_t, core::kRankMax> at{};
  std::int64_t from = 0;  // the element at these indices
  while (true) {
    std::memcpy(to, elements.data() + static_cast<std::size_t>(from) * element_size, element_size);
    to += element_size;
    std::size_t dim = shape.size();
    while (dim > 0) {
      --dim;
      from += strides[dim];
      if (++at[dim] < shape[dim]) break;
      from -= strides[dim] * shape[dim];
      at[dim] = 0;
      if (dim == 0) return;
    }
    if (shape.empty()) return;
  }
}

}  // namespace latebind::embedding
