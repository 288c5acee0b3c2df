#include "core/text/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace latebind::core {
namespace {

constexpr std::uint8_t kNoDigit = 64;

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::uint8_t, 256> kDigitValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kBase64Digits.size(); ++i)
    values[static_cast<unsigned char>(kBase64Digits[i])] = static_cast<std::uint8_t>(i);
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
    const std::uint8_t digit = kDigitValues[static_cast<unsigned char>(c)];
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

void append_base64(std::string& out, std::string_view bytes) {
  const auto byte = [bytes](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  std::size_t at = out.size();
  out.resize(at + (bytes.size() + 2) / 3 * 4, '=');
  // Writes by index, because appending to a string costs more than computing the digits.
  char* const to = out.data();
  const auto put = [&](std::uint32_t three, unsigned digits) {
    for (unsigned i = 0; i < digits; ++i)
      to[at + i] = kBase64Digits[three >> (18 - 6 * i) & 63U];
    at += 4;
  };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3)
    put(byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2), 4);
  if (bytes.size() - i == 2) put(byte(i) << 16U | byte(i + 1) << 8U, 3);
  if (bytes.size() - i == 1) put(byte(i) << 16U, 2);
}

}  // namespace latebind::core
