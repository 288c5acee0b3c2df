#include "core/bundle/crc32.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/bundle/crc32_fold.h"
#include "core/threads/thread_pool.h"

namespace latebind::core {
namespace {

// Processes eight bytes in a step: kTables[k][b] is what byte b contributes when k bytes follow it.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr std::uint32_t kPolynomial = 0xEDB88320U;

constexpr Tables make_tables() {
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

// Returns the register after these bytes.
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

// Polynomials modulo kPolynomial, with the coefficient of x^0 in the highest bit.
constexpr std::uint32_t kOne = 0x80000000U;
constexpr std::uint32_t kXToTheEighth = 0x00800000U;

constexpr std::uint32_t product(std::uint32_t left, std::uint32_t right) {
  std::uint32_t sum = 0;
  for (; left != 0; left <<= 1U) {
    if ((left & kOne) != 0) sum ^= right;
    right = (right >> 1U) ^ ((right & 1U) != 0 ? kPolynomial : 0U);
  }
  return sum;
}

// Returns x^(8 * bytes), the factor by which that many zero bytes after other bytes multiply their CRC.
constexpr std::uint32_t shift_by(std::uint64_t bytes) {
  std::uint32_t power = kOne;
  for (std::uint32_t square = kXToTheEighth; bytes != 0; bytes >>= 1U, square = product(square, square))
    if ((bytes & 1U) != 0) power = product(power, square);
  return power;
}

// The number of bytes for which another thread is worth its cost; most of the time goes into mapping the pages of a
// file one by one.
constexpr std::size_t kBytesOfAThread = std::size_t{8} << 20U;
constexpr std::size_t kThreadsMax = 4;

}  // namespace

std::uint32_t crc32_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t second_size) {
  return product(shift_by(second_size), first) ^ second;
}

std::uint32_t crc32_on_threads(std::span<const std::byte> bytes, std::size_t threads) {
  threads = std::clamp<std::size_t>(std::min(threads, bytes.size() / kBytesOfAThread), 1, kThreadsMax);
  const std::size_t share = bytes.size() / threads;
  std::array<std::uint32_t, kThreadsMax> sums{};
  const auto part = [&](std::size_t i) {
    return bytes.subspan(i * share, i + 1 < threads ? share : bytes.size() - i * share);
  };
  ThreadPool(threads - 1).share(threads, threads - 1, [&](std::size_t i) { sums[i] = crc32(part(i)); });
  std::uint32_t sum = sums[0];
  for (std::size_t i = 1; i < threads; ++i)
    sum = crc32_of_both(sum, sums[i], part(i).size());
  return sum;
}

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
