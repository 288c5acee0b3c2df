#include "embedding/tokenizer/json_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "core/text/ascii.h"
#include "embedding/tokenizer/short_bytes.h"

namespace latebind::embedding {
namespace {

constexpr int kPowersEnd = 309;

const std::array<double, kPowersEnd>& powers_of_ten() {
  static const std::array<double, kPowersEnd> powers = [] {
    std::array<double, kPowersEnd> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string text = "1e" + std::to_string(i);
      std::from_chars(text.data(), text.data() + text.size(), all[i]);
    }
    return all;
  }();
  return powers;
}

struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;

  // Returns false if the digit does not fit.
  bool add(char digit) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    const auto value = static_cast<std::uint64_t>(digit - '0');
    if (digits >= kMax / 10 && (digits > kMax / 10 || value > kMax % 10)) return false;
    digits = digits * 10 + value;
    return true;
  }
  // Adds eight digits at once if they are certain to fit.
  bool add_eight(std::string_view text) {
    constexpr std::uint64_t kRoomForEight = 100'000'000'000U;
    if (text.size() < sizeof(std::uint64_t) || digits >= kRoomForEight) return false;
    const auto eight = word_at<std::uint64_t>(text.data());
    constexpr std::uint64_t kUpperHalves = 0xF0F0F0F0F0F0F0F0U;
    constexpr std::uint64_t kDigits = 0x3030303030303030U;
    // '0' to '9' have this upper half, and keep it when 6 is added.
    if ((eight & kUpperHalves) != kDigits || ((eight + 0x0606060606060606U) & kUpperHalves) != kDigits) return false;
    // Neighbours are combined into numbers of two, four and then eight digits; the first digit is in the lowest byte.
    std::uint64_t joined = (eight & 0x0F0F0F0F0F0F0F0FU) * (10U << 8U | 1U) >> 8U;
    joined = (joined & 0x00FF00FF00FF00FFU) * (100U << 16U | 1U) >> 16U;
    joined = (joined & 0x0000FFFF0000FFFFU) * (std::uint64_t{10'000} << 32U | 1U) >> 32U;
    digits = digits * 100'000'000U + joined;
    return true;
  }
};

double value_of(Decimal decimal) {
  auto value = static_cast<double>(decimal.digits);
  // Below the least power of ten, there is an additional division for each 308.
  for (; decimal.exponent <= -kPowersEnd && value != 0.0; decimal.exponent += kPowersEnd - 1)
    value /= powers_of_ten()[kPowersEnd - 1];
  if (value == 0.0) return value;
  if (decimal.exponent >= kPowersEnd) return std::numeric_limits<double>::infinity();
  const double power = powers_of_ten()[static_cast<std::size_t>(std::abs(decimal.exponent))];
  return decimal.exponent < 0 ? value / power : value * power;
}

// Whether value_of() gives the nearest double, because both numbers are exact and only one rounding occurs.
bool is_nearest(const Decimal& decimal) {
  constexpr std::uint64_t kExactEnd = std::uint64_t{1} << std::numeric_limits<double>::digits;
  constexpr int kExactPowers = 22;
  return decimal.digits <= kExactEnd && std::abs(decimal.exponent) <= kExactPowers;
}

}  // namespace

std::optional<double> take_json_number(std::string_view& text, NumberRounding rounding) {
  std::size_t at = 0;
  const auto here = [&] { return at < text.size() ? text[at] : '\0'; };
  const bool is_negative = here() == '-';
  if (is_negative) ++at;
  if (!core::is_ascii_digit(here()) || (here() == '0' && at + 1 < text.size() && core::is_ascii_digit(text[at + 1])))
    return std::nullopt;
  Decimal decimal;
  constexpr int kExponentMax = 1'000'000;  // greater than that of any double
  bool has_room = true;
  while (decimal.add_eight(text.substr(at)))
    at += 8;
  for (; core::is_ascii_digit(here()); ++at) {
    has_room = has_room && decimal.add(here());
    if (!has_room) decimal.exponent = std::min(decimal.exponent + 1, kExponentMax);
  }
  if (here() == '.') {
    ++at;
    if (!core::is_ascii_digit(here())) return std::nullopt;
    has_room = true;
    for (; decimal.add_eight(text.substr(at)); at += 8)
      decimal.exponent = std::max(decimal.exponent - 8, -kExponentMax);
    for (; core::is_ascii_digit(here()); ++at) {
      has_room = has_room && decimal.add(here());
      if (has_room) decimal.exponent = std::max(decimal.exponent - 1, -kExponentMax);
    }
  }
  if (here() == 'e' || here() == 'E') {
    ++at;
    const bool is_below_one = here() == '-';
    if (is_below_one || here() == '+') ++at;
    if (!core::is_ascii_digit(here())) return std::nullopt;
    int exponent = 0;
    for (; core::is_ascii_digit(here()); ++at)
      exponent = std::min(exponent * 10 + (here() - '0'), kExponentMax);
    decimal.exponent += is_below_one ? -exponent : exponent;
  }
  double value = value_of(decimal);
  if (rounding == NumberRounding::kNearest && !is_nearest(decimal)) {
    // Leaves numbers outside of double's range unchanged.
    std::from_chars(text.data() + (is_negative ? 1 : 0), text.data() + at, value);
  }
  if (std::isinf(value)) return std::nullopt;
  text.remove_prefix(at);
  return is_negative ? -value : value;
}

}  // namespace latebind::embedding
