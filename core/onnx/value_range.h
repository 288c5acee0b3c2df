// ValueRange: what numbers a tensor of an ONNX model may have, as the definition of its operators says: an interval,
// and whether NaN is possible. It tells whether a number for which an implementation is wrong can get to an operator.
//
// Ranges hold under assumptions, because nothing else can be known before a run: sizes of tensors and what a model
// computes from them stay below kSizeMax, and a dimension that products are summed over below kTermsMax where it is not
// known; layers with weights (products with constants, normalisations) keep ordinary numbers ordinary, so that sums do
// not overflow, and weights that are not looked at are ordinary. Results are those of real numbers, rounded once to
// their type. Sizes are not 0 where a caller's tensors are not empty, a
// slice by sizes is not empty, and no row of a Softmax is -infinity throughout. Everything else is worked out, and an
// operator that is not known here may give anything.
//
// Pure functions and values; any thread.
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
#include "core/tensor.h"

namespace latebind::onnx {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kSizeMax = 16'777'216;  // 2^24
inline constexpr double kTermsMax = 65'536;
// Weights that are not looked at are up to 2^16.
inline constexpr double kWeightMax = 65'536;
// Up to which a layer's results count as ordinary: 2^40, which is 1.1e12; of f16 up to 2^11, so that sums are finite.
inline constexpr double kOrdinaryMax = 1'099'511'627'776;

// Of exact results, before they are rounded to their type.
struct Interval {
  double low = 0;
  double high = 0;
  bool nan = false;
};

// What a tensor's numbers have to do with another tensor's.
struct Relation {
  enum class Kind : std::uint8_t {
    kNone,
    kSquare,      // of each number of the other
    kMeanSquare,  // at least the mean of the other's squares, along axes that are kept
    kNorm,        // 0 or more, and `times` it is at least each of the other's magnitudes
    kOverNorm,    // at most `times` 1 / a norm of the other
    kShares,      // from 0, and their sums along the last axis are 1
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
  // Below the smallest normal number and not 0, as a caller or a constant gives it; one that is computed does not
  // count.
  bool may_be_subnormal = true;
  bool may_be_empty = true;  // the tensor has no elements
  // It comes from sizes of tensors, counting, comparing and constants alone, and is within ±kSizeMax.
  bool is_size = false;
  // A size is in it: its bounds are those that sizes are assumed to have.
  bool is_assumed = false;
  // A vendor may know the numbers before a run: they come from constants alone, or from sizes that the model has.
  bool may_be_folded = false;
  // The result before it is reduced to what its type holds; as low and high where nothing is lost.
  double exact_low = -kInfinite;
  double exact_high = kInfinite;
  bool has_shape = false;
  std::vector<std::int64_t> shape{};  // -1 where not known
  std::optional<std::size_t> rank{};  // where the shape is not known; see dimensions()
  std::size_t id = 0;                 // of the tensor, where somebody tells tensors apart; 0: not
  Relation relation{};

  // Any number of the type.
  static ValueRange any(core::ElementType type);
  // Numbers from `low` to `high`, none of them NaN.
  static ValueRange between(core::ElementType type, double low, double high);
  // Of a size, or of an index.
  static ValueRange size(core::ElementType type = core::ElementType::kI64);
  // Of all numbers that are in one of them; of a's type.
  static ValueRange either(const ValueRange& a, const ValueRange& b);
  static ValueRange of(const Constant& constant);
  // What an operator makes of `inputs` (null: not given), as the type holds it, and as sizes are taken to be.
  static ValueRange made(core::ElementType type, Interval exact, std::span<const ValueRange* const> inputs);
  static ValueRange cast(const ValueRange& x, core::ElementType to);

  // It or numbers from `low` to `high`, in a tensor of another shape.
  [[nodiscard]] ValueRange with(double low, double high) const;
  [[nodiscard]] double largest() const;  // of the magnitudes
  [[nodiscard]] bool may_be_infinite() const;
  // How many dimensions there are, where that is known.
  [[nodiscard]] std::optional<std::size_t> dimensions() const { return has_shape ? shape.size() : rank; }
};

// An integer of 32 or 64 bits.
[[nodiscard]] bool is_wide(core::ElementType type);
// The numbers of an integer type; ±infinity for floating-point ones.
[[nodiscard]] double lowest_of(core::ElementType type);
[[nodiscard]] double highest_of(core::ElementType type);

// Beyond the largest finite number of a floating-point type results are infinite; f64 counts as f32, as which devices
// compute it.
[[nodiscard]] double largest_finite(core::ElementType type);
// The nearest number that a floating-point type has.
[[nodiscard]] double rounded_to(core::ElementType type, double number);
[[nodiscard]] double ordinary_max(core::ElementType type);

// The ranges of a node's outputs, one for each. `inputs` has null for those that are not given. Of the domain of ONNX's
// own operators; of others anything of the first input's type.
[[nodiscard]] std::vector<ValueRange> ranges_after(const Node& node, std::span<const ValueRange* const> inputs);

// Of a node's first output.
[[nodiscard]] Relation relation_after(const Node& node, std::span<const ValueRange* const> inputs);
// What the magnitudes of a node's first output do not exceed because of its inputs' relations.
[[nodiscard]] std::optional<double> bound_by_relation(const Node& node, std::span<const ValueRange* const> inputs);

// How many dimensions a node's first output has; nothing where that is not worked out.
[[nodiscard]] std::optional<std::size_t> rank_after(const Node& node, std::span<const ValueRange* const> inputs);

// True for operators that only move what their first input has: what comes out is what went in.
[[nodiscard]] bool only_moves(std::string_view op);

}  // namespace latebind::onnx
