// The sum of ZIP, by tables and by the processor's own means: the same as bit by bit.
#include "core/bundle/crc32.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace latebind::core {
namespace {

std::uint32_t bit_by_bit(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0xFFFFFFFFU;
  for (const std::byte byte : bytes) {
    sum ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~sum;
}

std::vector<std::byte> noise(std::size_t size) {
  std::mt19937 random(7);  // NOLINT: the same bytes each time
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(Crc32Test, OfTheCheckString) {
  constexpr std::string_view kCheck = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span(kCheck))), 0xCBF43926U);
}

TEST(Crc32Test, OfEveryLengthAndPlace) {
  const auto bytes = noise(700);
  for (std::size_t size = 0; size <= 600; ++size) {
    const auto part = std::span(bytes).subspan(size % 67, size);
    ASSERT_EQ(crc32(part), bit_by_bit(part)) << size << " bytes";
  }
}

TEST(Crc32Test, GoesOnWhereItWasLeft) {
  const auto bytes = noise(5000);
  const std::uint32_t whole = bit_by_bit(bytes);
  for (const std::size_t cut : {0U, 1U, 15U, 16U, 63U, 64U, 65U, 1000U, 4999U, 5000U}) {
    const std::uint32_t first = crc32(std::span(bytes).first(cut));
    EXPECT_EQ(crc32(std::span(bytes).subspan(cut), first), whole) << cut;
  }
}

TEST(Crc32Test, OfTwoPiecesIsThatOfBoth) {
  const auto bytes = noise(5000);
  const std::uint32_t whole = crc32(bytes);
  for (const std::size_t cut : {0U, 1U, 15U, 1000U, 4999U, 5000U}) {
    const auto second = std::span(bytes).subspan(cut);
    EXPECT_EQ(crc32_of_both(crc32(std::span(bytes).first(cut)), crc32(second), second.size()), whole) << cut;
  }
}

TEST(Crc32Test, OnThreadsIsTheSame) {
  const auto bytes = noise((std::size_t{33} << 20U) + 5);
  const std::uint32_t whole = crc32(bytes);
  for (const std::size_t threads : {0U, 1U, 2U, 3U, 4U, 64U})
    EXPECT_EQ(crc32_on_threads(bytes, threads), whole) << threads;
  EXPECT_EQ(crc32_on_threads(std::span(bytes).first(100), 4), crc32(std::span(bytes).first(100)));
  EXPECT_EQ(crc32_on_threads({}, 4), 0U);
}

}  // namespace
}  // namespace latebind::core
