#include "core/onnx/value_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/tensor/half.h"

namespace latebind::onnx {
namespace {

using core::ElementType;

template <class Number>
Number number_at(std::span<const std::byte> data, std::size_t i) {
  Number number{};
  std::memcpy(&number, data.data() + i * sizeof number, sizeof number);
  return number;
}

// The range of all numbers; empty when low is above high.
struct Found {
  double low = kInfinite;
  double high = -kInfinite;
  bool nan = false;
  bool subnormal = false;
};

// The range of every kLanes-th number: compilers vectorise minima of floating-point numbers only in lanes.
template <class Number>
struct Lanes {
  static constexpr std::size_t kLanes = 16;
  std::array<Number, kLanes> low{};
  std::array<Number, kLanes> high{};
  std::array<unsigned, kLanes> nan{};
  std::array<unsigned, kLanes> subnormal{};

  void take(std::size_t lane, Number number, Number normal) {
    // Both comparisons are false for NaN.
    low[lane] = number < low[lane] ? number : low[lane];
    high[lane] = number > high[lane] ? number : high[lane];
    if constexpr (std::is_floating_point_v<Number>) {
      nan[lane] |= static_cast<unsigned>(number != number);
      subnormal[lane] |= static_cast<unsigned>((number != 0) & (std::abs(number) < normal));
    }
  }
};

// `read` converts a stored element to a number; numbers below `normal` are subnormal.
template <class Stored, class Read, class Number = std::invoke_result_t<Read, Stored>>
Found found_in(std::span<const std::byte> data, Number normal, const Read& read) {
  using Limits = std::numeric_limits<Number>;
  constexpr std::size_t kLanes = Lanes<Number>::kLanes;
  const std::size_t count = data.size() / sizeof(Stored);
  if (count == 0) return {};
  Lanes<Number> lanes;
  lanes.low.fill(Limits::has_infinity ? Limits::infinity() : Limits::max());
  lanes.high.fill(Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes.take(lane, read(number_at<Stored>(data, i + lane)), normal);
  }
  for (; i < count; ++i)
    lanes.take(0, read(number_at<Stored>(data, i)), normal);
  const auto any = [](const auto& flags) {
    return std::ranges::any_of(flags, [](unsigned flag) { return flag != 0; });
  };
  return {static_cast<double>(std::ranges::min(lanes.low)), static_cast<double>(std::ranges::max(lanes.high)),
          any(lanes.nan), any(lanes.subnormal)};
}

template <class Number>
Found found_in(std::span<const std::byte> data, Number normal = 0) {
  return found_in<Number>(data, normal, [](Number number) { return number; });
}

Found numbers_of(const Constant& constant) {
  constexpr float kNormal = std::numeric_limits<float>::min();
  constexpr float kNormalF16 = 6.103515625e-05F;
  switch (*constant.type) {
    case ElementType::kBool:
    case ElementType::kU8:
      return found_in<std::uint8_t>(constant.data);
    case ElementType::kI8:
      return found_in<std::int8_t>(constant.data);
    case ElementType::kI16:
      return found_in<std::int16_t>(constant.data);
    case ElementType::kU16:
      return found_in<std::uint16_t>(constant.data);
    case ElementType::kI32:
      return found_in<std::int32_t>(constant.data);
    case ElementType::kU32:
      return found_in<std::uint32_t>(constant.data);
    case ElementType::kI64:
      return found_in<std::int64_t>(constant.data);
    case ElementType::kU64:
      return found_in<std::uint64_t>(constant.data);
    case ElementType::kF16:
      return found_in<std::uint16_t>(constant.data, kNormalF16, core::from_f16);
    case ElementType::kBF16:
      return found_in<std::uint16_t>(constant.data, kNormal, core::from_bf16);
    case ElementType::kF32:
      return found_in<float>(constant.data, kNormal);
    case ElementType::kF64:
      return found_in<double>(constant.data, kNormal);
  }
  return {};
}

bool any_has(std::span<const ValueRange* const> inputs, bool (*holds)(const ValueRange&)) {
  return std::ranges::any_of(inputs, [=](const ValueRange* one) { return one != nullptr && holds(*one); });
}

bool all_have(std::span<const ValueRange* const> inputs, bool (*holds)(const ValueRange&)) {
  return !inputs.empty() &&
         std::ranges::all_of(inputs, [=](const ValueRange* one) { return one == nullptr || holds(*one); });
}

}  // namespace

bool is_wide(ElementType type) {
  return type == ElementType::kI32 || type == ElementType::kU32 || type == ElementType::kI64 ||
         type == ElementType::kU64;
}

double lowest_of(ElementType type) {
  switch (type) {
    case ElementType::kI8:
      return -128;
    case ElementType::kI16:
      return -32'768;
    case ElementType::kI32:
      return -2'147'483'648.0;
    case ElementType::kI64:
      return -9'223'372'036'854'775'808.0;
    default:
      return is_float(type) ? -kInfinite : 0;
  }
}

double highest_of(ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return 1;
    case ElementType::kI8:
      return 127;
    case ElementType::kU8:
      return 255;
    case ElementType::kI16:
      return 32'767;
    case ElementType::kU16:
      return 65'535;
    case ElementType::kI32:
      return 2'147'483'647.0;
    case ElementType::kU32:
      return 4'294'967'295.0;
    case ElementType::kI64:
      return 9'223'372'036'854'775'807.0;
    case ElementType::kU64:
      return 18'446'744'073'709'551'615.0;
    default:
      return kInfinite;
  }
}

double largest_finite(ElementType type) {
  if (type == ElementType::kF16) return 65'504;
  return type == ElementType::kBF16 ? 3.3895313892515355e38 : 3.4028234663852886e38;
}

double rounded_to(ElementType type, double number) {
  if (number == 0 || !std::isfinite(number) || type == ElementType::kF64) return number;
  const int bits = type == ElementType::kF16 ? 11 : type == ElementType::kBF16 ? 8 : 24;
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

double ordinary_max(ElementType type) {
  return type == ElementType::kF16 ? 2048 : kOrdinaryMax;
}

ValueRange ValueRange::any(ElementType type) {
  ValueRange range;
  range.type = type;
  range.low = range.exact_low = lowest_of(type);
  range.high = range.exact_high = highest_of(type);
  range.may_be_nan = range.may_be_subnormal = is_float(type);
  return range;
}

ValueRange ValueRange::between(ElementType type, double low, double high) {
  ValueRange range = any(type);
  range.low = range.exact_low = low;
  range.high = range.exact_high = high;
  range.may_be_nan = range.may_be_subnormal = range.may_be_empty = false;
  return range;
}

ValueRange ValueRange::size(ElementType type) {
  ValueRange range = between(type, 0, kSizeMax);
  range.is_size = range.is_assumed = true;
  return range;
}

ValueRange ValueRange::either(const ValueRange& a, const ValueRange& b) {
  ValueRange made = a;
  made.low = made.exact_low = std::min(a.low, b.low);
  made.high = made.exact_high = std::max(a.high, b.high);
  made.may_be_nan = a.may_be_nan || b.may_be_nan;
  made.may_be_subnormal = a.may_be_subnormal || b.may_be_subnormal;
  made.may_be_empty = a.may_be_empty || b.may_be_empty;
  made.is_size = a.is_size && b.is_size;
  made.is_assumed = a.is_assumed || b.is_assumed;
  made.may_be_folded = a.may_be_folded && b.may_be_folded;
  made.has_shape = false;
  made.shape.clear();
  return made;
}

ValueRange ValueRange::of(const Constant& constant) {
  const ElementType type = constant.type.value_or(ElementType::kF32);
  // Weights that are not read are assumed to be ordinary.
  ValueRange range = is_float(type) ? between(type, -std::min(kWeightMax, ordinary_max(type)),
                                              std::min(kWeightMax, ordinary_max(type)))
                                    : any(type);
  range.has_shape = true;
  range.shape = constant.shape;
  range.may_be_empty = std::ranges::find(constant.shape, 0) != constant.shape.end();
  range.may_be_folded = true;
  range.is_size = type == ElementType::kBool;
  if (!constant.is_read) return range;
  Found found = numbers_of(constant);
  if (found.low > found.high) found.low = found.high = 0;  // empty, or only NaN
  range.low = range.exact_low = found.low;
  range.high = range.exact_high = found.high;
  range.may_be_nan = found.nan;
  range.may_be_subnormal = found.subnormal;
  range.is_size = !found.nan && found.low >= -kSizeMax && found.high <= kSizeMax;
  return range;
}

ValueRange ValueRange::made(ElementType type, Interval exact, std::span<const ValueRange* const> inputs) {
  ValueRange result = any(type);
  if (std::isnan(exact.low)) exact.low = -kInfinite;
  if (std::isnan(exact.high)) exact.high = kInfinite;
  result.is_assumed = any_has(inputs, [](const ValueRange& one) { return one.is_assumed; });
  const bool is_of_sizes = all_have(inputs, [](const ValueRange& one) { return one.is_size; });
  if (result.is_assumed && is_of_sizes) {
    exact = {std::clamp(exact.low, -kSizeMax, kSizeMax), std::clamp(exact.high, -kSizeMax, kSizeMax)};
  }
  result.exact_low = exact.low;
  result.exact_high = exact.high;
  if (is_float(type)) {
    const double most = largest_finite(type);
    // A number that is nearer to the largest number than to the next one is rounded to the largest: for example the sum
    // of a score and the lowest float.
    const auto rounded = [&](double number) {
      const double near = rounded_to(type, number);
      return std::abs(near) > most ? std::copysign(kInfinite, near) : near;
    };
    result.low = std::min(rounded(exact.low), most);
    result.high = std::max(rounded(exact.high), -most);
    result.may_be_nan = exact.nan || any_has(inputs, [](const ValueRange& one) { return one.may_be_nan; });
    result.may_be_subnormal = false;
  } else if (exact.low >= result.low && exact.high <= result.high) {
    result.low = exact.low;
    result.high = exact.high;
  }
  const bool is_without_callers =
      all_have(inputs, [](const ValueRange& one) { return one.is_size || one.may_be_folded; });
  result.is_size = is_without_callers && !result.may_be_nan && result.low >= -kSizeMax && result.high <= kSizeMax;
  return result;
}

ValueRange ValueRange::cast(const ValueRange& x, ElementType to) {
  const std::array<const ValueRange*, 1> input{&x};
  ValueRange result = between(to, 0, 1);
  if (to == ElementType::kBool) {
    result.is_size = true;
  } else if (is_float(to)) {
    result = made(to, {x.low, x.high}, input);
    result.may_be_subnormal = x.may_be_subnormal;
  } else if (x.may_be_nan) {
    // The conversion of NaN is not defined.
    result = made(to, {-kInfinite, kInfinite}, {});
  } else {
    result = made(to, {std::trunc(x.low), std::trunc(x.high)}, input);
  }
  result.has_shape = x.has_shape;
  result.shape = x.shape;
  return result;
}

ValueRange ValueRange::with(double other_low, double other_high) const {
  ValueRange result = *this;
  result.low = result.exact_low = std::min(low, other_low);
  result.high = result.exact_high = std::max(high, other_high);
  result.is_size = is_size && other_low >= -kSizeMax && other_high <= kSizeMax;
  result.has_shape = false;
  result.shape.clear();
  return result;
}

double ValueRange::largest() const {
  return std::max(std::abs(low), std::abs(high));
}

bool ValueRange::may_be_infinite() const {
  return is_float(type) && (low == -kInfinite || high == kInfinite);
}

}  // namespace latebind::onnx
