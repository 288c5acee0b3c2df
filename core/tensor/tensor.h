// Tensors at the boundary of a vendor runtime: views of memory that others own, and output buffers. Values, which any
// one thread may use at a time, or several that only read.
//
// Shapes have up to kRankMax dimensions, including rank 0 (a scalar, one element). Every size is computed with overflow
// checks, because shapes come from outside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::core {

// The numbers are part of the C ABI.
enum class ElementType : std::int32_t {
  kBool = 1,
  kI8 = 2,
  kU8 = 3,
  kI16 = 4,
  kU16 = 5,
  kI32 = 6,
  kU32 = 7,
  kI64 = 8,
  kU64 = 9,
  kF16 = 10,
  kBF16 = 11,
  kF32 = 12,
  kF64 = 13,
};

// Returns the number of bytes of one element; 0 for a number that is not an ElementType.
[[nodiscard]] std::size_t size_of(ElementType type);
[[nodiscard]] bool is_float(ElementType type);
// Whether the address is aligned for the type, which vendors take for granted.
[[nodiscard]] bool is_aligned(const void* data, ElementType type);
// Returns the type's name: "f32", "i64", "bool" …
[[nodiscard]] std::string_view name_of(ElementType type);
// Returns the type of this name, or std::nullopt.
[[nodiscard]] std::optional<ElementType> element_type_from_name(std::string_view name);

inline constexpr std::size_t kRankMax = 8;

// A dimension that is not known before the run, in the shapes of a model's inputs and outputs.
inline constexpr std::int64_t kDynamic = -1;

class Shape {
 public:
  Shape() = default;  // rank 0
  // At most kRankMax dimensions, for literals in code. Use make() for shapes from outside.
  Shape(std::initializer_list<std::int64_t> dims);
  // Returns kUnsupported for more than kRankMax dimensions, and kInvalidArgument for a dimension below kDynamic.
  static Result<Shape> make(std::span<const std::int64_t> dims);

  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::span<const std::int64_t> dims() const { return {dims_.data(), rank_}; }
  std::int64_t operator[](std::size_t i) const { return dims_[i]; }
  std::int64_t& operator[](std::size_t i) { return dims_[i]; }

  [[nodiscard]] bool is_static() const;
  // Returns the product of the dimensions, 1 for rank 0. kInvalidArgument when the shape is dynamic or the product
  // exceeds 2^48.
  [[nodiscard]] Result<std::size_t> element_count() const;
  // Whether `given` (static) may be used where this shape (perhaps dynamic) is declared.
  [[nodiscard]] bool accepts(const Shape& given) const;
  // Returns "[1,?,384]"; "[]" for rank 0.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<std::int64_t, kRankMax> dims_{};
  std::size_t rank_ = 0;
};

// Returns the bytes of a contiguous tensor's elements. Fails as Shape::element_count() does.
[[nodiscard]] Result<std::size_t> byte_size_of(ElementType type, const Shape& shape);

// A tensor in memory that the caller owns and keeps alive during the call it is passed to.
struct TensorView {
  void* data = nullptr;  // inputs are read-only
  ElementType type = ElementType::kF32;
  Shape shape;
  // The distance between neighbours in each dimension, in elements; unset means row-major and contiguous.
  std::optional<std::array<std::int64_t, kRankMax>> strides;

  // Whether the elements are row-major without gaps, whatever `strides` says.
  [[nodiscard]] bool is_contiguous() const;
  // Returns the number of elements, counted from `data`, that a copy spans: the offset of the last one plus one. Fails
  // for negative strides and for an extent that does not fit in memory.
  [[nodiscard]] Result<std::size_t> extent() const;
  // Copies the elements row-major and without gaps to `out`, which must hold byte_size_of(type, shape) bytes. Fails if
  // extent() or byte_size_of() does.
  [[nodiscard]] Status copy_to_contiguous(void* out) const;
};

// What a model declares about one of its inputs or outputs.
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::kF32;
  Shape shape;                        // kDynamic where not known before the run
  std::vector<std::int64_t> upper{};  // upper bound of each dimension; empty if none is declared
};

// Gives memory for an output whose shape is known only in the run.
class OutputMemory {
 public:
  [[nodiscard]] virtual Result<void*> memory_for(ElementType type, const Shape& shape) = 0;

 protected:
  OutputMemory() = default;
  OutputMemory(const OutputMemory&) = default;
  OutputMemory& operator=(const OutputMemory&) = default;
  ~OutputMemory() = default;
};

// The destination of one output of a run. It is either bound to the caller's memory or has its own buffer, which grows
// as needed and is kept between runs, so that repeated runs allocate nothing. Movable, not copyable; one thread at a
// time.
class OutputTensor {
 public:
  OutputTensor() = default;
  // A moved-from object is like a new one: it refers to no memory.
  OutputTensor(OutputTensor&& other) noexcept;
  OutputTensor& operator=(OutputTensor&& other) noexcept;
  ~OutputTensor() = default;
  // The run writes to `data`. An output larger than `capacity_bytes` is kBufferTooSmall.
  static OutputTensor bound(void* data, std::size_t capacity_bytes);
  // The run writes to memory that `memory` gives in the run; it must outlive this object.
  static OutputTensor in(OutputMemory& memory);

  // For backends: makes room for `type` and `shape`, sets view() and returns the address to write to. kBufferTooSmall
  // if bound memory is too small, kOutOfMemory if there is no memory.
  [[nodiscard]] Result<void*> prepare(ElementType type, const Shape& shape);

  // The tensor of the last run, with its actual shape. Its data is null before the first run.
  [[nodiscard]] const TensorView& view() const { return view_; }
  [[nodiscard]] bool is_bound() const { return bound_; }

 private:
  struct AlignedFree {
    void operator()(void* p) const;
  };
  TensorView view_{};
  bool bound_ = false;
  void* bound_data_ = nullptr;
  std::size_t capacity_bytes_ = 0;
  OutputMemory* memory_ = nullptr;
  std::unique_ptr<void, AlignedFree> owned_;
};

}  // namespace latebind::core
