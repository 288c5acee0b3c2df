// Differences between files: what is made comes back, others' are read, and nothing else is.
#include "core/bundle/vcdiff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/bundle/vcdiff_format.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> span_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(size, 0);
  for (char& c : text)
    c = static_cast<char>(random());
  return text;
}

Result<std::string> applied(std::string_view source, std::string_view difference, std::size_t size) {
  std::vector<std::byte> target(size);
  LB_RETURN_IF_ERROR(apply_vcdiff(span_of(source), span_of(difference), target, "a test"));
  return std::string(reinterpret_cast<const char*>(target.data()), target.size());
}

// What comes back, or why nothing does.
std::string made_of(std::string_view source, std::string_view difference, std::size_t size) {
  const auto result = applied(source, difference, size);
  return result.ok() ? *result : result.status().to_string();
}

std::string made(std::string_view source, std::string_view target) {
  auto difference = vcdiff_of(span_of(source), span_of(target), target.size() * 2 + 100);
  EXPECT_TRUE(difference.has_value());
  return difference.value_or("");
}

TEST(VcdiffTest, WhatIsMadeComesBack) {
  const std::string source = noise(100'000, 1);
  std::string moved = source.substr(50'000) + noise(300, 2) + source.substr(0, 50'000);
  std::string sprinkled = source;
  for (std::size_t i = 0; i < sprinkled.size(); i += 997)
    sprinkled[i] = static_cast<char>(sprinkled[i] ^ 1);
  const std::string half = source.substr(0, 63) + std::string(5'000, '\0') + source.substr(63, 64);
  for (const std::string& target : {source, moved, sprinkled, half, std::string(), std::string("short"),
                                    noise(100'000, 3), source + source + source}) {
    const std::string difference = made(source, target);
    const auto back = applied(source, difference, target.size());
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(*back, target);
  }
  EXPECT_LT(made(source, moved).size(), 500U);
  EXPECT_LT(made(source, sprinkled).size(), 1'000U);
  EXPECT_EQ(made_of("", made("", "all of it is new"), 16), "all of it is new");
}

TEST(VcdiffTest, SeveralWindowsAreOneFile) {
  const std::string source = noise(std::size_t{9} << 20, 4);
  const std::string target = source.substr(1) + "end";
  const std::string difference = made(source, target);
  EXPECT_LT(difference.size(), 200U);
  EXPECT_EQ(made_of(source, difference, target.size()), target);
}

TEST(VcdiffTest, WhatWouldBeTooLongIsNotMade) {
  const std::string source = noise(10'000, 5);
  const std::string target = noise(10'000, 6);
  EXPECT_FALSE(vcdiff_of(span_of(source), span_of(target), 5'000).has_value());
  EXPECT_TRUE(vcdiff_of(span_of(source), span_of(source), 100).has_value());
}

TEST(VcdiffTest, TheCodeTableIsThatOfTheRfc) {
  constexpr auto kTable = vcdiff::code_table();
  using vcdiff::Kind;
  EXPECT_EQ(kTable[0].first.kind, Kind::kRun);
  EXPECT_TRUE(kTable[18].first.kind == Kind::kAdd && kTable[18].first.size == 17);
  EXPECT_TRUE(kTable[162].first.kind == Kind::kCopy && kTable[162].first.size == 18 && kTable[162].first.mode == 8);
  EXPECT_TRUE(kTable[163].first.size == 1 && kTable[163].second.size == 4 && kTable[163].second.mode == 0);
  EXPECT_TRUE(kTable[234].first.size == 4 && kTable[234].second.size == 6 && kTable[234].second.mode == 5);
  EXPECT_TRUE(kTable[246].first.size == 4 && kTable[246].second.size == 4 && kTable[246].second.mode == 8);
  EXPECT_TRUE(kTable[255].first.mode == 8 && kTable[255].second.kind == Kind::kAdd && kTable[255].second.size == 1);
}

// One window: what it takes of the source, how much it makes, and its three sections.
std::string window(std::string_view segment, char size, std::string_view data, std::string_view instructions,
                   std::string_view addresses) {
  const auto length = [](std::string_view text) { return static_cast<char>(text.size()); };
  std::string body{size, 0, length(data), length(instructions), length(addresses)};
  body += data;
  body += instructions;
  body += addresses;
  return std::string(segment) + length(body) + body;
}
const std::string kHead("\xD6\xC3\xC4\0\0", 5);
const std::string kSource = "abcdefghijklmnop";
const std::string kFromAll("\x01\x10\x00", 3);

// The example of section 3 of the RFC: a run, a copy over the border, and one of what it writes itself.
TEST(VcdiffTest, EveryInstructionAndModeIsRead) {
  const std::string rfc = kHead + window(kFromAll, 28, "wxyzz", {"\x14\x05\x14\x1C\x00\x04", 6}, {"\x00\x04\x18", 3});
  EXPECT_EQ(made_of(kSource, rfc, 28), "abcdwxyzefghefghefghefghzzzz");
  // 3 back from here, near the last address plus 1, and by the one-byte table of earlier ones.
  const std::string modes = kHead + window(kFromAll, 12, "", {"\x24\x34\x74", 3}, std::string("\x03\x02\x0D", 3));
  EXPECT_EQ(made_of(kSource, modes, 12), "nopnpnopnopn");
  // From what earlier windows made.
  const std::string target = kHead + window(std::string(1, 0), 4, "wxyz", "\x05", "") +
                             window(std::string("\x02\x03\x01", 3), 4, "", "\x14", std::string(1, 0));
  EXPECT_EQ(made_of("", target, 8), "wxyzxyzx");
}

TEST(VcdiffTest, WhatIsDamagedIsRefusedWithWhatIsWrong) {
  struct Case {
    std::string difference;
    const char* why;
  };
  const std::string good = kHead + window(kFromAll, 4, "", "\x14", std::string(1, 0));
  ASSERT_EQ(made_of(kSource, good, 4), "abcd");
  for (const Case& one : {
           Case{"", "not a difference"},
           {"\xD6\xC3\xC4\x01", "not a difference"},
           {std::string("\xD6\xC3\xC4\0\1", 5), "compressor"},
           {good.substr(0, good.size() - 1), "cut off"},
           {kHead, "makes 0 bytes; expected 4"},
           {good + good.substr(5), "larger than expected"},
           {kHead + window(std::string("\x04\x10\x00", 3), 4, "", "\x14", std::string(1, 0)), "indicator 4"},
           {kHead + window(std::string("\x01\x10\x01", 3), 4, "", "\x14", std::string(1, 0)), "outside the file"},
           {kHead + window(std::string("\x02\x01\x00", 3), 4, "", "\x14", std::string(1, 0)), "outside the file"},
           {kHead + window(kFromAll, 3, "", "\x14", std::string(1, 0)), "more than its window"},
           {kHead + window(kFromAll, 4, "", "", ""), "not filled"},
           {kHead + window(kFromAll, 4, "", "\x14", "\x10"), "after the available data"},
           {kHead + window(kFromAll, 4, "", "\x24", "\x11"), "after the available data"},
           {kHead + window(kFromAll, 4, "", "\x14", ""), "too early"},
           {kHead + window(kFromAll, 4, "ab", "\x05", ""), "too early"},
           {kHead + window(kFromAll, 4, "abcde", "\x05", ""), "unused data"},
           {kHead + window(kFromAll, 4, "", "\x13", std::string(1, 0)), "too early"},
           {kHead +
                window(kFromAll, 4, "", std::string("\x13\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 12), "\x01"),
            ""},
       }) {
    const auto result = applied(kSource, one.difference, 4);
    ASSERT_FALSE(result.ok()) << one.why;
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidModel);
    EXPECT_THAT(result.status().to_string(), HasSubstr(one.why));
  }
}

TEST(VcdiffTest, NoCutOrChangeOfADifferenceDoesHarm) {
  const std::string source = noise(3'000, 7);
  std::string target = source;
  target[1'500] = static_cast<char>(target[1'500] ^ 1);
  const std::string difference = made(source, target);
  for (std::size_t i = 0; i < difference.size(); ++i) {
    EXPECT_FALSE(applied(source, difference.substr(0, i), target.size()).ok()) << i;
    for (const int bit : {1, 0x80}) {
      std::string changed = difference;
      changed[i] = static_cast<char>(changed[i] ^ bit);
      // It may make something else, of the right size.
      (void)applied(source, changed, target.size());
    }
  }
}

}  // namespace
}  // namespace latebind::core
