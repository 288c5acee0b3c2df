#include "core/text/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace latebind::core {
namespace {

constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> kDigits = [] {
  constexpr std::string_view kAll = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kAll.size(); ++i)
    values[static_cast<unsigned char>(kAll[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned bit_count = 0;
  for (const char c : text) {
    const std::uint8_t digit = kDigits[static_cast<unsigned char>(c)];
    if (digit == kNoDigit) return std::nullopt;
    bits = bits << 6U | digit;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes.push_back(static_cast<char>(bits >> bit_count & 0xFFU));
    bits &= (1U << bit_count) - 1U;
  }
  if (bits != 0) return std::nullopt;
  return bytes;
}

}  // namespace latebind::core
