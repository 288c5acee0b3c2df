#include "core/onnx/given.h"

#include <algorithm>

namespace latebind::onnx {
namespace {

using core::ElementType;

// The magnitude assumed for a caller's floating-point numbers if only far larger ones matter: 2^60.
constexpr double kFiniteMax = 1'152'921'504'606'846'976;
// The magnitudes assumed for a caller's ordinary numbers.
constexpr double kGivenMax = 1'073'741'824;  // 2^30
constexpr double kGivenIntegerMax = 1'048'576;

}  // namespace

ValueRange given(ElementType type, Care care, std::optional<std::int64_t> indices) {
  ValueRange range = ValueRange::any(type);
  const auto within = [&](double low, double high) {
    range.low = range.exact_low = std::max(range.low, low);
    range.high = range.exact_high = std::min(range.high, high);
  };
  if (care == Care::kNothing) return range;
  if (is_wide(type)) within(-2'147'483'648.0, 2'147'483'647.0);
  if (is_float(type)) {
    within(-(type == ElementType::kF16 ? 65'504 : kFiniteMax), type == ElementType::kF16 ? 65'504 : kFiniteMax);
    range.may_be_nan = false;
  }
  if (care == Care::kFits) return range;
  range.may_be_empty = false;
  if (is_wide(type)) within(-kGivenIntegerMax, kGivenIntegerMax);
  if (is_wide(type) && care == Care::kFlags) within(0, 1);
  if (is_wide(type) && indices) within(static_cast<double>(-*indices), static_cast<double>(*indices - 1));
  if (is_float(type)) {
    const double most = type == ElementType::kF16 ? 65'504 : kGivenMax;
    within(-most, most);
    range.may_be_subnormal = false;
  }
  return range;
}

}  // namespace latebind::onnx
