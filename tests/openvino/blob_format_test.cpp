// Blobs told by their first bytes, and by the lengths of their parts.
#include "backends/openvino/blob_format.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace latebind::openvino {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string number(std::uint64_t value, std::size_t count = 8) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return out;
}

// Three parts of 5, 6 and `last` bytes, as 2024.6 to 2026.0 write them; the file holds 7 of the last one.
std::string plain(std::uint64_t last = 7) {
  std::string blob;
  for (const std::uint64_t value :
       {std::uint64_t{48}, std::uint64_t{5}, std::uint64_t{53}, std::uint64_t{6}, std::uint64_t{59}, last})
    blob += number(value);
  return blob + std::string(5 + 6 + 7, 'x');
}

// As 2026.4 writes them.
std::string labelled(std::uint64_t length = 4) {
  return "RR_UPCVO" + number(1, 4) + number(length) + "meta" + plain();
}

TEST(BlobFormatTest, BlobsOfTheCpuAndTheNpuAreTold) {
  EXPECT_TRUE(looks_like_blob(bytes_of(plain())));
  EXPECT_TRUE(looks_like_blob(bytes_of(labelled())));
  EXPECT_TRUE(
      looks_like_blob(bytes_of("\x7f"
                               "ELF and so on")));
}

TEST(BlobFormatTest, OtherFilesAreNot) {
  for (const std::string& other :
       {std::string(), std::string("PK\3\4"), std::string("<?xml version=\"1.0\"?><net/>"),
        std::string("\x08\x0a\x3a\x00", 4), std::string(64, '\0'), number(48) + std::string(64, '\0')})
    EXPECT_FALSE(looks_like_blob(bytes_of(other)));
}

TEST(BlobFormatTest, AWholeBlobIsRight) {
  EXPECT_TRUE(check_blob(bytes_of(plain())).ok());
  EXPECT_TRUE(check_blob(bytes_of(labelled())).ok());
}

TEST(BlobFormatTest, PartsThatDoNotFillTheBlobAreDamage) {
  for (const std::string& whole : {plain(), labelled()}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      if (whole[0] != 'R' && size < 8) continue;
      EXPECT_EQ(check_blob(bytes_of(whole).first(size)).code(), core::StatusCode::kInvalidModel) << size;
    }
    EXPECT_FALSE(check_blob(bytes_of(whole + "x")).ok());
  }
  for (const std::uint64_t last : {std::uint64_t{0}, std::uint64_t{6}, std::uint64_t{8}, ~std::uint64_t{0}})
    EXPECT_FALSE(check_blob(bytes_of(plain(last))).ok()) << last;
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    EXPECT_FALSE(check_blob(bytes_of(labelled(length))).ok()) << length;
}

TEST(BlobFormatTest, APartThatLiesElsewhereIsDamage) {
  std::string blob = plain();
  blob[16] = 52;  // the second part begins within the first
  EXPECT_FALSE(check_blob(bytes_of(blob)).ok());
}

}  // namespace
}  // namespace latebind::openvino
