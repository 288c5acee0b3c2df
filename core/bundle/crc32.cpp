#include "core/bundle/crc32.h"

#include <array>
#include <bit>
#include <cstring>

#include "core/bundle/crc32_fold.h"

namespace latebind::core {
namespace {

// Eight bytes at a step: kTables[k][b] is what the byte b contributes when k bytes follow it.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  constexpr std::uint32_t kPolynomial = 0xEDB88320U;
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? kPolynomial : 0U);
    tables[0][byte] = sum;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t sum = tables[k - 1][byte];
      tables[k][byte] = (sum >> 8U) ^ tables[0][sum & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

static_assert(std::endian::native == std::endian::little, "the steps of eight bytes read little-endian words");

// The register after these bytes.
std::uint32_t advanced(std::uint32_t sum, std::span<const std::byte> bytes) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= sum;
    sum = kTables[7][low & 0xFFU] ^ kTables[6][(low >> 8U) & 0xFFU] ^ kTables[5][(low >> 16U) & 0xFFU] ^
          kTables[4][low >> 24U] ^ kTables[3][high & 0xFFU] ^ kTables[2][(high >> 8U) & 0xFFU] ^
          kTables[1][(high >> 16U) & 0xFFU] ^ kTables[0][high >> 24U];
  }
  for (; left > 0; ++at, --left)
    sum = (sum >> 8U) ^ kTables[0][(sum ^ std::to_integer<std::uint32_t>(*at)) & 0xFFU];
  return sum;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t sum = ~before;
  std::array<std::byte, 16> folded{};
  if (const std::size_t taken = crc32_fold(sum, bytes, folded); taken > 0) {
    sum = advanced(0, folded);
    bytes = bytes.subspan(taken);
  }
  return ~advanced(sum, bytes);
}

}  // namespace latebind::core
