// ValueRange: what numbers a tensor of an ONNX model may have, as the definition of its operators says: an interval,
// and whether NaN is possible. It tells whether a number for which an implementation is wrong can get to an operator.
//
// Ranges hold under two assumptions, because nothing else can be known before a run: sizes of tensors and what a model
// computes from them stay below kSizeMax, and layers with weights (products with constants, normalisations) keep
// ordinary numbers ordinary, so that sums do not overflow. Everything else is worked out, and an operator that is not
// known here may give anything.
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
// Up to which a layer's results count as ordinary: 2^40, which is 1.1e12.
inline constexpr double kOrdinaryMax = 1'099'511'627'776;

struct ValueRange {
  core::ElementType type = core::ElementType::kF32;
  double low = -kInfinite;
  double high = kInfinite;
  bool may_be_nan = true;
  // Below the smallest normal number and not 0, as a caller or a constant gives it.
  bool may_be_subnormal = true;
  bool may_be_empty = true;  // the tensor has no elements
  // It comes from sizes of tensors alone, or from counting and comparing.
  bool is_size = false;
  // The result before it is reduced to what its type holds; as low and high where nothing is lost.
  double exact_low = -kInfinite;
  double exact_high = kInfinite;
  bool has_shape = false;
  std::vector<std::int64_t> shape{};  // -1 where not known

  // Any number of the type.
  static ValueRange any(core::ElementType type);
  // Numbers from `low` to `high`, none of them NaN.
  static ValueRange between(core::ElementType type, double low, double high);
  // Of a size, or of an index.
  static ValueRange size(core::ElementType type = core::ElementType::kI64);
  static ValueRange of(const Constant& constant);

  [[nodiscard]] double largest() const;  // of the magnitudes
  [[nodiscard]] bool may_be_infinite() const;
};

[[nodiscard]] bool is_float(core::ElementType type);
// An integer of 32 or 64 bits.
[[nodiscard]] bool is_wide(core::ElementType type);
// The numbers of an integer type; ±infinity for floating-point ones.
[[nodiscard]] double lowest_of(core::ElementType type);
[[nodiscard]] double highest_of(core::ElementType type);

// The ranges of a node's outputs, one for each. `inputs` has null for those that are not given; `constants` tells which
// inputs are constants of the model. Of the domain of ONNX's own operators; of others anything of the first input's
// type.
[[nodiscard]] std::vector<ValueRange> ranges_after(const Node& node, std::span<const ValueRange* const> inputs,
                                                   std::span<const bool> constants);

// True for operators that only move what their first input has: what comes out is what went in.
[[nodiscard]] bool only_moves(std::string_view op);

}  // namespace latebind::onnx
