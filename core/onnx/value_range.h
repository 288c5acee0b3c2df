// ValueRange: the numbers that a tensor of an ONNX model may have according to the definitions of its operators, as an
// interval, and whether NaN is possible. It shows whether a number that an implementation computes wrongly can reach an
// operator.
//
// Ranges hold under assumptions, because little else is known before a run:
//   - Sizes of tensors, and what a model computes from them, stay below kSizeMax; an unknown dimension over which
//     products are summed stays below kTermsMax.
//   - Layers with weights (products with constants, normalisations) keep ordinary numbers ordinary, so that sums do not
//     overflow. Weights that are not read are ordinary.
//   - Results are those of real numbers, rounded once to their type.
//   - Sizes are not 0 if a caller's tensors are not empty, a slice by sizes is not empty, and no row of a Softmax is
//     -infinity throughout.
// Everything else is derived. An operator that is not known here may produce anything.
//
// Pure functions and values, for any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/onnx/network.h"
#include "core/tensor/tensor.h"

namespace latebind::onnx {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kSizeMax = 16'777'216;  // 2^24
inline constexpr double kTermsMax = 65'536;
// The largest magnitude assumed for weights that are not read: 2^16.
inline constexpr double kWeightMax = 65'536;
// The largest magnitude of a layer's results that counts as ordinary: 2^40, which is 1.1e12. For f16 it is 2^11, so
// that sums are finite.
inline constexpr double kOrdinaryMax = 1'099'511'627'776;

// Exact results, before they are rounded to their type.
struct Interval {
  double low = 0;
  double high = 0;
  bool nan = false;
};

// How a tensor's numbers relate to those of another tensor.
struct Relation {
  enum class Kind : std::uint8_t {
    kNone,
    kSquare,      // each is the square of the other's number
    kMeanSquare,  // at least the mean of the other's squares, along axes that are kept
    kNorm,        // at least 0, and `times` it is at least the magnitude of each of the other's numbers
    kOverNorm,    // at most `times` 1 / a norm of the other
    kShares,      // at least 0, and the sums along the last axis are 1
  };
  Kind kind = Kind::kNone;
  std::size_t of = 0;  // ValueRange::id
  double times = 1;
};

struct ValueRange {
  core::ElementType type = core::ElementType::kF32;
  double low = -kInfinite;
  double high = kInfinite;
  bool may_be_nan = true;
  // Numbers below the smallest normal number, except 0, that a caller or a constant gives. Computed ones do not count.
  bool may_be_subnormal = true;
  bool may_be_empty = true;  // the tensor has no elements
  // Whether it is computed only from sizes of tensors, counts, comparisons and constants, and is within ±kSizeMax.
  bool is_size = false;
  // Whether a size contributes to it, so that its bounds rest on the assumptions about sizes.
  bool is_assumed = false;
  // Whether a vendor may know the numbers before a run: they come only from constants, or from sizes that the model
  // declares.
  bool may_be_folded = false;
  // The result before it is reduced to what its type holds; equal to low and high when nothing is lost.
  double exact_low = -kInfinite;
  double exact_high = kInfinite;
  bool has_shape = false;
  std::vector<std::int64_t> shape{};  // -1 where unknown
  std::optional<std::size_t> rank{};  // if the shape is unknown; see dimensions()
  std::size_t id = 0;                 // identifies the tensor if tensors are told apart; otherwise 0
  Relation relation{};

  // Returns the range with every number of the type.
  static ValueRange any(core::ElementType type);
  // Returns the numbers from `low` to `high`, without NaN.
  static ValueRange between(core::ElementType type, double low, double high);
  // Returns the range of a size or an index.
  static ValueRange size(core::ElementType type = core::ElementType::kI64);
  // Returns the union of both ranges, with the type of a.
  static ValueRange either(const ValueRange& a, const ValueRange& b);
  static ValueRange of(const Constant& constant);
  // Returns the result of an operator on `inputs` (null when not given), limited to its type and to the assumptions
  // about sizes.
  static ValueRange made(core::ElementType type, Interval exact, std::span<const ValueRange* const> inputs);
  static ValueRange cast(const ValueRange& x, core::ElementType to);

  // Returns the union of this range and `low` to `high`, for a tensor of another shape.
  [[nodiscard]] ValueRange with(double low, double high) const;
  [[nodiscard]] double largest() const;  // the largest magnitude
  [[nodiscard]] bool may_be_infinite() const;
  // Returns the rank, or std::nullopt if it is unknown.
  [[nodiscard]] std::optional<std::size_t> dimensions() const { return has_shape ? shape.size() : rank; }
};

// Whether the type is an integer of 32 or 64 bits.
[[nodiscard]] bool is_wide(core::ElementType type);
// The limits of an integer type; ±infinity for floating-point types.
[[nodiscard]] double lowest_of(core::ElementType type);
[[nodiscard]] double highest_of(core::ElementType type);

// Returns the largest finite number of a floating-point type. f64 counts as f32, because devices compute it as f32.
[[nodiscard]] double largest_finite(core::ElementType type);
// Returns the nearest number that a floating-point type has.
[[nodiscard]] double rounded_to(core::ElementType type, double number);
[[nodiscard]] double ordinary_max(core::ElementType type);

// Returns the ranges of a node's outputs, one for each. `inputs` has null for those that are not given. A node of
// another domain than ONNX's own may produce anything of the first input's type.
[[nodiscard]] std::vector<ValueRange> ranges_after(const Node& node, std::span<const ValueRange* const> inputs);

// Returns the relation of a node's first output to another tensor.
[[nodiscard]] Relation relation_after(const Node& node, std::span<const ValueRange* const> inputs);
// Returns a bound on the magnitudes of a node's first output that follows from its inputs' relations, or std::nullopt.
[[nodiscard]] std::optional<double> bound_by_relation(const Node& node, std::span<const ValueRange* const> inputs);

// Returns the rank of a node's first output, or std::nullopt if it is not worked out.
[[nodiscard]] std::optional<std::size_t> rank_after(const Node& node, std::span<const ValueRange* const> inputs);

// Whether the operator only moves the numbers of its first input, so that its output has no others.
[[nodiscard]] bool only_moves(std::string_view op);

}  // namespace latebind::onnx
