#include "backends/openvino/integer_range.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace latebind::openvino {
namespace {

using core::ElementType;
using core::Status;
using core::StatusCode;
using core::TensorView;

// The loop has no branch, so it costs almost nothing compared with an inference. Elements may be unaligned.
template <class Integer>
bool all_fit(const std::byte* data, std::size_t count) {
  bool fit = true;
  for (std::size_t i = 0; i < count; ++i) {
    Integer value = 0;
    std::memcpy(&value, data + i * sizeof value, sizeof value);
    fit &= static_cast<Integer>(static_cast<std::int32_t>(value)) == value;
    if constexpr (!std::numeric_limits<Integer>::is_signed) {
      fit &= value <= static_cast<Integer>(std::numeric_limits<std::int32_t>::max());
    }
  }
  return fit;
}

bool all_fit(ElementType type, const std::byte* data, std::size_t count) {
  switch (type) {
    case ElementType::kI64:
      return all_fit<std::int64_t>(data, count);
    case ElementType::kU64:
      return all_fit<std::uint64_t>(data, count);
    case ElementType::kU32:
      return all_fit<std::uint32_t>(data, count);
    default:
      return true;
  }
}

bool is_narrowed(ElementType type) {
  return type == ElementType::kI64 || type == ElementType::kU64 || type == ElementType::kU32;
}

}  // namespace

Status check_integer_range(std::span<const core::TensorInfo> declared, std::span<const TensorView> given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const TensorView& view = given[i];
    if (!is_narrowed(view.type)) continue;
    LB_ASSIGN_OR_RETURN(const std::size_t count, view.shape.element_count());
    const auto* data = static_cast<const std::byte*>(view.data);
    std::vector<std::byte> copy;
    if (!view.is_contiguous()) {
      copy.resize(count * core::size_of(view.type));
      LB_RETURN_IF_ERROR(view.copy_to_contiguous(copy.data()));
      data = copy.data();
    }
    if (!all_fit(view.type, data, count)) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format("input '{}' has a value that does not fit in 32 bits, the type in which openvino:CPU computes {}",
                      declared[i].name, core::name_of(view.type)));
    }
  }
  return {};
}

}  // namespace latebind::openvino
