#include "core/tensor/input_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "core/tensor/half.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

using Bound = InputBounds::Bound;

// Decides by the bits of a floating-point number whether it is allowed. The idea: without the sign bit, and read as
// unsigned integers, floating-point numbers have the order of their magnitudes, with NaN above infinity.
template <class Bits>
struct FloatLimits {
  Bits most = 0;
  Bits least = 0;     // the smallest allowed magnitude besides 0
  Bits infinity = 0;  // NaN is above it
  Bits sign = 0;
  bool takes_nan = false;

  [[nodiscard]] bool takes(Bits number) const {
    const Bits magnitude = number & static_cast<Bits>(~sign);
    const bool is_taken = (magnitude <= most) & ((magnitude >= least) | (magnitude == 0));
    return is_taken | (takes_nan & (magnitude > infinity));
  }
};

template <class Number>
Number number_at(const std::byte* data) {
  Number number{};
  std::memcpy(&number, data, sizeof number);
  return number;
}

// Returns the index of the first of `count` numbers that `takes` refuses, if any. The loop over a block has no branch,
// so that it can be vectorised; only a block with a refused number is searched.
template <class Number, class Takes>
std::optional<std::size_t> first_refused(const std::byte* data, std::size_t count, const Takes& takes) {
  constexpr std::size_t kTogether = 1024;
  for (std::size_t begin = 0; begin < count; begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, count);
    unsigned refused = 0;
    for (std::size_t i = begin; i < end; ++i)
      refused |= static_cast<unsigned>(!takes(number_at<Number>(data + i * sizeof(Number))));
    if (refused == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (!takes(number_at<Number>(data + i * sizeof(Number)))) return i;
    }
  }
  return std::nullopt;
}

template <class Bits>
Bits magnitude_of(double number);

template <>
std::uint64_t magnitude_of(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

// The conversions below round down, so that no number beyond the bound is accepted.
template <>
std::uint32_t magnitude_of(double number) {
  if (number >= static_cast<double>(std::numeric_limits<float>::max())) number = std::numeric_limits<float>::max();
  const auto near = static_cast<float>(number);
  return std::bit_cast<std::uint32_t>(near) - (static_cast<double>(near) > number ? 1 : 0);
}

std::uint16_t f16_magnitude_of(double number) {
  std::uint16_t low = 0;
  std::uint16_t high = 0x7BFFU;
  while (low < high) {
    const auto middle = static_cast<std::uint16_t>((low + high + 1) / 2);
    if (static_cast<double>(from_f16(middle)) <= number) {
      low = middle;
    } else {
      high = static_cast<std::uint16_t>(middle - 1);
    }
  }
  return low;
}

// Returns the largest magnitude that a floating-point bound allows: the limit that is nearer to zero.
double most_of(const Bound& bound) {
  return std::max(0.0, std::min(-bound.low, bound.high));
}

template <class Bits>
FloatLimits<Bits> limits_of(const Bound& bound, Bits most, Bits infinity, Bits smallest_normal, Bits sign) {
  FloatLimits<Bits> limits;
  limits.sign = sign;
  limits.infinity = infinity;
  limits.most = std::isinf(most_of(bound)) ? infinity : most;
  limits.takes_nan = bound.may_be_nan;
  limits.least = bound.may_be_subnormal ? 0 : smallest_normal;
  return limits;
}

template <class Number>
std::optional<std::size_t> integer_refused(const std::byte* data, std::size_t count, const Bound& bound) {
  constexpr auto kLow = std::numeric_limits<Number>::min();
  constexpr auto kHigh = std::numeric_limits<Number>::max();
  if (bound.low > bound.high || bound.low > static_cast<double>(kHigh) || bound.high < static_cast<double>(kLow))
    return 0;
  const Number low = bound.low <= static_cast<double>(kLow) ? kLow : static_cast<Number>(bound.low);
  const Number high = bound.high >= static_cast<double>(kHigh) ? kHigh : static_cast<Number>(bound.high);
  return first_refused<Number>(data, count, [=](Number number) { return (number >= low) & (number <= high); });
}

std::optional<std::size_t> refused(ElementType type, const std::byte* data, std::size_t count, const Bound& bound) {
  switch (type) {
    case ElementType::kF32: {
      const auto limits = limits_of<std::uint32_t>(bound, magnitude_of<std::uint32_t>(most_of(bound)), 0x7F80'0000U,
                                                   0x0080'0000U, 0x8000'0000U);
      return first_refused<std::uint32_t>(data, count, [=](std::uint32_t bits) { return limits.takes(bits); });
    }
    case ElementType::kBF16: {
      const auto most = static_cast<std::uint16_t>(magnitude_of<std::uint32_t>(most_of(bound)) >> 16U);
      const auto limits = limits_of<std::uint16_t>(bound, most, 0x7F80U, 0x0080U, 0x8000U);
      return first_refused<std::uint16_t>(data, count, [=](std::uint16_t bits) { return limits.takes(bits); });
    }
    case ElementType::kF16: {
      const auto limits = limits_of<std::uint16_t>(bound, f16_magnitude_of(most_of(bound)), 0x7C00U, 0x0400U, 0x8000U);
      return first_refused<std::uint16_t>(data, count, [=](std::uint16_t bits) { return limits.takes(bits); });
    }
    case ElementType::kF64: {
      // Devices compute f64 as f32, so the smallest normal number is that of f32.
      const auto limits =
          limits_of<std::uint64_t>(bound, magnitude_of<std::uint64_t>(most_of(bound)), 0x7FF0'0000'0000'0000U,
                                   0x3810'0000'0000'0000U, 0x8000'0000'0000'0000U);
      return first_refused<std::uint64_t>(data, count, [=](std::uint64_t bits) { return limits.takes(bits); });
    }
    case ElementType::kI32:
      return integer_refused<std::int32_t>(data, count, bound);
    case ElementType::kU32:
      return integer_refused<std::uint32_t>(data, count, bound);
    case ElementType::kI64:
      return integer_refused<std::int64_t>(data, count, bound);
    case ElementType::kU64:
      return integer_refused<std::uint64_t>(data, count, bound);
    default:
      return std::nullopt;  // no number of a narrow type is out of bounds
  }
}

std::string text_at(ElementType type, const std::byte* data) {
  switch (type) {
    case ElementType::kF32:
      return fmt::format("{:g}", number_at<float>(data));
    case ElementType::kBF16:
      return fmt::format("{:g}", from_bf16(number_at<std::uint16_t>(data)));
    case ElementType::kF64:
      return fmt::format("{:g}", number_at<double>(data));
    case ElementType::kF16:
      return fmt::format("{:g}", from_f16(number_at<std::uint16_t>(data)));
    case ElementType::kI32:
      return fmt::to_string(number_at<std::int32_t>(data));
    case ElementType::kU32:
      return fmt::to_string(number_at<std::uint32_t>(data));
    case ElementType::kI64:
      return fmt::to_string(number_at<std::int64_t>(data));
    case ElementType::kU64:
      return fmt::to_string(number_at<std::uint64_t>(data));
    default:
      return "a number";
  }
}

std::string described(ElementType type, const Bound& bound) {
  std::string text = fmt::format("numbers from {:.0f} to {:.0f}", bound.low, bound.high);
  if (!is_float(type)) return text;
  if (!bound.may_be_nan) text += ", no NaN";
  if (!bound.may_be_subnormal) text += ", no subnormal numbers";
  return text;
}

}  // namespace

InputBounds InputBounds::of(std::span<const TensorInfo> declared, std::size_t count, std::span<const Bound> bounds,
                            std::string device) {
  InputBounds made;
  for (const Bound& bound : bounds) {
    const auto found = std::ranges::find(declared, bound.input, &TensorInfo::name);
    if (found != declared.end()) {
      made.bounds_.push_back({static_cast<std::size_t>(found - declared.begin()), bound});
    } else if (declared.size() == count && bound.place < count) {
      made.bounds_.push_back({bound.place, bound});
    }
  }
  made.device_ = std::move(device);
  return made;
}

Status InputBounds::check(std::span<const TensorView> given) const {
  for (const Placed& one : bounds_) {
    const TensorView& view = given[one.place];
    const auto what = [&] { return "input " + core::quoted(one.bound.input); };
    LB_ASSIGN_OR_RETURN(const std::size_t bytes, byte_size_of(view.type, view.shape));
    if (bytes == 0) {
      if (one.bound.may_be_empty) continue;
      return Status(
          StatusCode::kUnsupported,
          fmt::format(
              "{} has shape {}, but {} computes this model as ONNX defines it only for tensors that are not empty",
              what(), view.shape.to_string(), device_));
    }
    const auto* data = static_cast<const std::byte*>(view.data);
    std::vector<std::byte> copy;
    if (!view.is_contiguous()) {
      copy.resize(bytes);
      LB_RETURN_IF_ERROR(view.copy_to_contiguous(copy.data()));
      data = copy.data();
    }
    const std::size_t size = size_of(view.type);
    const auto at = refused(view.type, data, bytes / size, one.bound);
    if (!at) continue;
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{} has {} as element {}, but {} computes this model as ONNX defines it only for {}", what(),
                    text_at(view.type, data + *at * size), *at, device_, described(view.type, one.bound)));
  }
  return {};
}

}  // namespace latebind::core
