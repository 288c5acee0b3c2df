#include "core/tensor/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/tensor/half.h"

namespace latebind::core {
namespace {

// An output whose largest number is smaller than this is measured relative to this number instead: the remainder of
// numbers that cancel is not compared with itself.
constexpr double kScaleLeast = 1e-6;
// Items whose largest number is below this share of the output's largest number do not affect the cosine.
constexpr double kItemShareLeast = 0.1;

template <class T>
T element_at(const void* data, std::size_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + i * sizeof value, sizeof value);
  return value;
}

double float_at(const TensorView& tensor, std::size_t i) {
  switch (tensor.type) {
    case ElementType::kF16:
      return from_f16(element_at<std::uint16_t>(tensor.data, i));
    case ElementType::kBF16:
      return from_bf16(element_at<std::uint16_t>(tensor.data, i));
    case ElementType::kF64:
      return element_at<double>(tensor.data, i);
    default:
      return element_at<float>(tensor.data, i);
  }
}

bool same_non_finite(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b;
}

void compare_floats(const TensorView& tested, const TensorView& reference, std::size_t count, Difference& result) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = float_at(reference, i);
    if (std::isfinite(expected)) largest = std::max(largest, std::abs(expected));
  }
  const double scale = std::max(largest, kScaleLeast);
  const std::size_t items =
      reference.shape.rank() > 1 ? static_cast<std::size_t>(std::max<std::int64_t>(reference.shape[0], 1)) : 1;
  const std::size_t length = count / items;
  for (std::size_t item = 0; item < items; ++item) {
    double dot = 0;
    double own_square = 0;
    double expected_square = 0;
    double item_largest = 0;
    for (std::size_t i = item * length; i < (item + 1) * length; ++i) {
      const double own = float_at(tested, i);
      const double expected = float_at(reference, i);
      if (std::isnan(own)) ++result.nan_count;
      if (std::isnan(expected)) ++result.reference_nan_count;
      if (!std::isfinite(own) || !std::isfinite(expected)) {
        if (!same_non_finite(own, expected)) ++result.non_finite_apart;
        continue;
      }
      result.absolute = std::max(result.absolute, std::abs(own - expected));
      item_largest = std::max(item_largest, std::abs(expected));
      dot += own * expected;
      own_square += own * own;
      expected_square += expected * expected;
    }
    if (item_largest < kItemShareLeast * scale) continue;
    const double norms = std::sqrt(own_square) * std::sqrt(expected_square);
    result.cosine = std::min(result.cosine, norms > 0 ? std::clamp(dot / norms, -1.0, 1.0) : 0.0);
  }
  result.relative = result.absolute / scale;
}

}  // namespace

AgreementBounds agreement_bounds(Precision precision) {
  switch (precision) {
    case Precision::kF32:
      return {.relative_most = 0.01, .cosine_least = 0.9999, .different_most = 0};
    case Precision::kF16:
      return {.relative_most = 0.03, .cosine_least = 0.999, .different_most = 0.01};
    case Precision::kBF16:
      return {.relative_most = 0.15, .cosine_least = 0.99, .different_most = 0.05};
    case Precision::kInt8:
    case Precision::kFast:
      break;
  }
  return {.relative_most = 0.5, .cosine_least = 0.95, .different_most = 0.1};
}

Difference difference(const TensorView& tested, const TensorView& reference) {
  Difference result;
  if (tested.type != reference.type) {
    result.mismatch = fmt::format("{} instead of {}", name_of(tested.type), name_of(reference.type));
  } else if (!(tested.shape == reference.shape)) {
    result.mismatch = fmt::format("shape {} instead of {}", tested.shape.to_string(), reference.shape.to_string());
  }
  const auto count = reference.shape.element_count();
  if (!result.mismatch.empty() || !count.ok() || *count == 0) return result;
  result.elements = *count;
  if (is_float(reference.type)) {
    compare_floats(tested, reference, *count, result);
    return result;
  }
  const std::size_t size = size_of(reference.type);
  for (std::size_t i = 0; i < *count; ++i) {
    const auto element = [&](const TensorView& of) { return static_cast<const std::byte*>(of.data) + i * size; };
    if (std::memcmp(element(tested), element(reference), size) != 0) ++result.different;
  }
  return result;
}

void add_difference(Difference& all, const Difference& one) {
  if (all.mismatch.empty()) all.mismatch = one.mismatch;
  all.elements += one.elements;
  all.absolute = std::max(all.absolute, one.absolute);
  all.relative = std::max(all.relative, one.relative);
  all.cosine = std::min(all.cosine, one.cosine);
  all.nan_count += one.nan_count;
  all.reference_nan_count += one.reference_nan_count;
  all.non_finite_apart += one.non_finite_apart;
  all.different += one.different;
}

namespace {

// Returns the first bound that is broken; empty when every bound holds.
std::string broken_bound(const Difference& one, const AgreementBounds& bounds) {
  if (!one.mismatch.empty()) return one.mismatch;
  if (one.non_finite_apart > 0) {
    return fmt::format("{} of {} numbers are NaN or infinite on only one side ({} NaN, {} in the reference)",
                       one.non_finite_apart, one.elements, one.nan_count, one.reference_nan_count);
  }
  if (static_cast<double>(one.different) > bounds.different_most * static_cast<double>(one.elements)) {
    return fmt::format("{} of {} elements are not equal", one.different, one.elements);
  }
  if (one.cosine < bounds.cosine_least) {
    return fmt::format("cosine {:.6f}; expected at least {}", one.cosine, bounds.cosine_least);
  }
  if (one.relative > bounds.relative_most) {
    return fmt::format("largest difference {:.2g} of the largest number; expected at most {}", one.relative,
                       bounds.relative_most);
  }
  return {};
}

}  // namespace

bool agrees(const Difference& difference, const AgreementBounds& bounds) {
  return broken_bound(difference, bounds).empty();
}

std::string text_of(const Difference& difference, const AgreementBounds& bounds) {
  if (std::string broken = broken_bound(difference, bounds); !broken.empty()) return broken;
  return fmt::format("largest difference {:.2g} of the largest number, cosine {:.7f}", difference.relative,
                     difference.cosine);
}

}  // namespace latebind::core
