#include "embedding/tokenizer/json_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

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

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;

  // False when the digits have no room for it.
  bool add(char digit) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    const auto value = static_cast<std::uint64_t>(digit - '0');
    if (digits >= kMax / 10 && (digits > kMax / 10 || value > kMax % 10)) return false;
    digits = digits * 10 + value;
    return true;
  }
};

double value_of(Decimal decimal) {
  auto value = static_cast<double>(decimal.digits);
  // Below the least power there is another division for each 308.
  for (; decimal.exponent <= -kPowersEnd && value != 0.0; decimal.exponent += kPowersEnd - 1)
    value /= powers_of_ten()[kPowersEnd - 1];
  if (value == 0.0) return value;
  if (decimal.exponent >= kPowersEnd) return std::numeric_limits<double>::infinity();
  const double power = powers_of_ten()[static_cast<std::size_t>(std::abs(decimal.exponent))];
  return decimal.exponent < 0 ? value / power : value * power;
}

}  // namespace

std::optional<double> take_json_number(std::string_view& text) {
  std::size_t at = 0;
  const auto here = [&] { return at < text.size() ? text[at] : '\0'; };
  const bool is_negative = here() == '-';
  if (is_negative) ++at;
  if (!is_digit(here()) || (here() == '0' && at + 1 < text.size() && is_digit(text[at + 1]))) return std::nullopt;
  Decimal decimal;
  constexpr int kExponentMax = 1'000'000;  // of no double
  bool has_room = true;
  for (; is_digit(here()); ++at) {
    has_room = has_room && decimal.add(here());
    if (!has_room) decimal.exponent = std::min(decimal.exponent + 1, kExponentMax);
  }
  if (here() == '.') {
    ++at;
    if (!is_digit(here())) return std::nullopt;
    has_room = true;
    for (; is_digit(here()); ++at) {
      has_room = has_room && decimal.add(here());
      if (has_room) decimal.exponent = std::max(decimal.exponent - 1, -kExponentMax);
    }
  }
  if (here() == 'e' || here() == 'E') {
    ++at;
    const bool is_below_one = here() == '-';
    if (is_below_one || here() == '+') ++at;
    if (!is_digit(here())) return std::nullopt;
    int exponent = 0;
    for (; is_digit(here()); ++at)
      exponent = std::min(exponent * 10 + (here() - '0'), kExponentMax);
    decimal.exponent += is_below_one ? -exponent : exponent;
  }
  const double value = value_of(decimal);
  if (std::isinf(value)) return std::nullopt;
  text.remove_prefix(at);
  return is_negative ? -value : value;
}

}  // namespace latebind::embedding
