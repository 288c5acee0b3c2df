#include "core/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace latebind::core {
namespace {

// More elements than fit in any machine, but few enough that the product with an element size does not overflow.
constexpr std::uint64_t kElementsMax = std::uint64_t{1} << 48;

// Vendors prefer cache lines, and AVX-512 needs 64 bytes.
constexpr std::size_t kAlignment = 64;

struct TypeFacts {
  ElementType type;
  std::string_view name;
  std::size_t size;
};

constexpr std::array kTypes{
    TypeFacts{ElementType::kBool, "bool", 1}, TypeFacts{ElementType::kI8, "i8", 1},
    TypeFacts{ElementType::kU8, "u8", 1},     TypeFacts{ElementType::kI16, "i16", 2},
    TypeFacts{ElementType::kU16, "u16", 2},   TypeFacts{ElementType::kI32, "i32", 4},
    TypeFacts{ElementType::kU32, "u32", 4},   TypeFacts{ElementType::kI64, "i64", 8},
    TypeFacts{ElementType::kU64, "u64", 8},   TypeFacts{ElementType::kF16, "f16", 2},
    TypeFacts{ElementType::kBF16, "bf16", 2}, TypeFacts{ElementType::kF32, "f32", 4},
    TypeFacts{ElementType::kF64, "f64", 8},
};

const TypeFacts* facts_of(ElementType type) {
  const auto* found = std::ranges::find(kTypes, type, &TypeFacts::type);
  return found == kTypes.end() ? nullptr : found;
}

}  // namespace

std::size_t size_of(ElementType type) {
  const TypeFacts* facts = facts_of(type);
  return facts ? facts->size : 0;
}

bool is_float(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16 || type == ElementType::kF32 ||
         type == ElementType::kF64;
}

bool is_aligned(const void* data, ElementType type) {
  const std::size_t size = size_of(type);
  return size != 0 && reinterpret_cast<std::uintptr_t>(data) % size == 0;
}

std::string_view name_of(ElementType type) {
  const TypeFacts* facts = facts_of(type);
  return facts ? facts->name : "unknown";
}

std::optional<ElementType> element_type_from_name(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &TypeFacts::name);
  if (found == kTypes.end()) return std::nullopt;
  return found->type;
}

Shape::Shape(std::initializer_list<std::int64_t> dims) : rank_(dims.size()) {
  assert(dims.size() <= kRankMax);
  std::ranges::copy(dims, dims_.begin());
}

Result<Shape> Shape::make(std::span<const std::int64_t> dims) {
  if (dims.size() > kRankMax) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("rank {} is above the limit of {} dimensions", dims.size(), kRankMax));
  }
  for (const std::int64_t dim : dims) {
    if (dim < kDynamic) {
      return Status(StatusCode::kInvalidArgument, fmt::format("a dimension of {}", dim));
    }
  }
  Shape shape;
  shape.rank_ = dims.size();
  std::ranges::copy(dims, shape.dims_.begin());
  return shape;
}

bool Shape::is_static() const {
  return std::ranges::none_of(dims(), [](std::int64_t dim) { return dim < 0; });
}

Result<std::size_t> Shape::element_count() const {
  std::uint64_t count = 1;
  bool too_many = false;
  for (const std::int64_t dim : dims()) {
    if (dim < 0) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("shape {} is not static, so it has no size", to_string()));
    }
    const auto size = static_cast<std::uint64_t>(dim);
    // A zero in a later dimension makes the tensor empty, whatever the dimensions before it.
    if (size == 0) return std::size_t{0};
    if (count > kElementsMax / size) {
      too_many = true;
    } else {
      count *= size;
    }
  }
  if (too_many) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("shape {} has more elements than fit in memory", to_string()));
  }
  return static_cast<std::size_t>(count);
}

bool Shape::accepts(const Shape& given) const {
  if (rank_ != given.rank_) return false;
  for (std::size_t i = 0; i < rank_; ++i) {
    if (dims_[i] != kDynamic && dims_[i] != given.dims_[i]) return false;
  }
  return true;
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (std::size_t i = 0; i < rank_; ++i) {
    if (i > 0) text += ',';
    text += dims_[i] < 0 ? std::string("?") : std::to_string(dims_[i]);
  }
  return text + "]";
}

bool operator==(const Shape& a, const Shape& b) {
  return std::ranges::equal(a.dims(), b.dims());
}

Result<std::size_t> byte_size_of(ElementType type, const Shape& shape) {
  const std::size_t size = size_of(type);
  if (size == 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} is not an element type", static_cast<std::int32_t>(type)));
  }
  LB_ASSIGN_OR_RETURN(const std::size_t count, shape.element_count());
  return count * size;
}

bool TensorView::is_contiguous() const {
  if (!strides) return true;
  std::int64_t expected = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    if (shape[i] == 0) return true;  // no elements
    if (shape[i] != 1 && (*strides)[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

Result<std::size_t> TensorView::extent() const {
  LB_ASSIGN_OR_RETURN(std::size_t count, shape.element_count());
  if (!strides || count == 0) return count;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] <= 1) continue;  // the stride is not used
    if ((*strides)[i] < 0) {
      return Status(StatusCode::kUnsupported, fmt::format("negative stride {} in dimension {}", (*strides)[i], i));
    }
    const auto steps = static_cast<std::uint64_t>(shape[i]) - 1;
    const auto stride = static_cast<std::uint64_t>((*strides)[i]);
    if (stride > (kElementsMax - last) / steps) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("stride {} in dimension {} of shape {} exceeds the address space", stride, i, shape.to_string()));
    }
    last += stride * steps;
  }
  return static_cast<std::size_t>(last) + 1;
}

Status TensorView::copy_to_contiguous(void* out) const {
  LB_ASSIGN_OR_RETURN(const std::size_t bytes, byte_size_of(type, shape));
  if (bytes == 0) return {};
  if (is_contiguous()) {
    std::memcpy(out, data, bytes);
    return {};
  }
  LB_RETURN_IF_ERROR(extent().status());
  const std::size_t size = size_of(type);
  const std::size_t rank = shape.rank();
  std::array<std::int64_t, kRankMax> index{};
  auto* target = static_cast<std::byte*>(out);
  const auto* source = static_cast<const std::byte*>(data);
  for (std::size_t done = 0; done < bytes; done += size) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < rank; ++i)
      offset += index[i] * (*strides)[i];
    std::memcpy(target + done, source + static_cast<std::size_t>(offset) * size, size);
    for (std::size_t i = rank; i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  return {};
}

OutputTensor::OutputTensor(OutputTensor&& other) noexcept {
  *this = std::move(other);
}

OutputTensor& OutputTensor::operator=(OutputTensor&& other) noexcept {
  view_ = std::exchange(other.view_, {});
  bound_ = std::exchange(other.bound_, false);
  bound_data_ = std::exchange(other.bound_data_, nullptr);
  capacity_bytes_ = std::exchange(other.capacity_bytes_, 0);
  memory_ = std::exchange(other.memory_, nullptr);
  owned_ = std::move(other.owned_);
  return *this;
}

OutputTensor OutputTensor::bound(void* data, std::size_t capacity_bytes) {
  OutputTensor tensor;
  tensor.bound_ = true;
  tensor.bound_data_ = data;
  tensor.capacity_bytes_ = capacity_bytes;
  return tensor;
}

OutputTensor OutputTensor::in(OutputMemory& memory) {
  OutputTensor tensor;
  tensor.memory_ = &memory;
  return tensor;
}

Result<void*> OutputTensor::prepare(ElementType type, const Shape& shape) {
  if (memory_ != nullptr) {
    LB_ASSIGN_OR_RETURN(view_.data, memory_->memory_for(type, shape));
    view_.type = type;
    view_.shape = shape;
    return view_.data;
  }
  LB_ASSIGN_OR_RETURN(const std::size_t bytes, byte_size_of(type, shape));
  if (bytes > capacity_bytes_) {
    if (bound_) {
      return Status(StatusCode::kBufferTooSmall, fmt::format("an output of {} {} needs {} bytes, but its buffer has {}",
                                                             name_of(type), shape.to_string(), bytes, capacity_bytes_));
    }
    owned_.reset(::operator new(bytes, std::align_val_t(kAlignment), std::nothrow));
    capacity_bytes_ = owned_ ? bytes : 0;
    if (!owned_) {
      view_ = {};
      return Status(StatusCode::kOutOfMemory, fmt::format("not enough memory for {} bytes", bytes));
    }
  }
  view_.data = bound_ ? bound_data_ : owned_.get();
  view_.type = type;
  view_.shape = shape;
  return view_.data;
}

void OutputTensor::AlignedFree::operator()(void* p) const {
  ::operator delete(p, std::align_val_t(kAlignment));
}

}  // namespace latebind::core
