// Copies the elements of a view in the order of its shape. Pure function; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace latebind::embedding {

// `elements` begins with the first element and has all others; `strides` are in elements. Writes as many elements of
// `element_size` bytes as the shape has.
void copy_view(std::span<const std::byte> elements, std::size_t element_size, std::span<const std::int64_t> shape,
               std::span<const std::int64_t> strides, std::byte* to);

}  // namespace latebind::embedding
