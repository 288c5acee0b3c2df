#include "core/text/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace latebind::core {
namespace {

using namespace std::string_literals;

std::string encoded(char32_t c) {
  std::string out;
  encode_utf8(c, [&out](char byte) { out.push_back(byte); });
  return out;
}

TEST(Utf8Test, DecodesWhatItEncodesForEveryCodePoint) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c == 0xD800) c = 0xE000;
    const std::string text = encoded(c);
    ASSERT_EQ(find_invalid_utf8(text), std::nullopt) << static_cast<unsigned>(c);
    const char* p = text.data();
    ASSERT_EQ(decode_utf8(p), c);
    ASSERT_EQ(p, text.data() + text.size());
  }
}

TEST(Utf8Test, FindsTheFirstByteOfWhatIsIllFormed) {
  const struct {
    std::string text;
    std::size_t offset;
  } cases[] = {
      {"\x80", 0},                      // continuation alone
      {"abcdefghijklmnop\xFFxyz", 16},  // behind two whole words of eight
      {"\xC0\xAF", 0},                  // overlong
      {"\xE0\x9F\xBF", 0},              // overlong
      {"\xF0\x8F\xBF\xBF", 0},          // overlong
      {"a\xED\xA0\x80", 1},             // surrogate
      {"\xF4\x90\x80\x80", 0},          // above U+10FFFF
      {"\xF5\x80\x80\x80", 0},          //
      {"\xC3\xA9\xC3", 2},              // cut off
      {"\xE4\xB8", 0},                  //
      {"\xF0\x9F\x98", 0},              //
      {"\xE4\xB8\x41", 0},              // third byte is none
      {"\xF0\x9F\x98\x41", 0},          //
      {"\xC3\x28", 0},                  //
  };
  for (const auto& c : cases)
    EXPECT_EQ(find_invalid_utf8(c.text), c.offset) << c.text;
}

// By the definition: its code point is one, and is encoded to the same bytes.
bool is_well_formed(const std::string& character) {
  const char* p = character.data();
  const char32_t c = decode_utf8(p);
  return c < 0x110000 && (c < 0xD800 || c > 0xDFFF) && encoded(c) == character;
}

TEST(Utf8Test, KnowsEveryTwoBytesAndTheBoundsOfLongerCharacters) {
  // Behind ASCII of some length, since eight bytes are looked at together, or 32.
  const auto check = [](const std::string& character, bool is_good) {
    for (const std::size_t before : {0U, 3U, 7U, 8U, 13U, 28U, 29U, 30U, 31U, 32U, 63U}) {
      const std::string text = std::string(before, 'a') + character + "bcd" + std::string(before < 28 ? 0 : 70, 'e');
      const auto at = find_invalid_utf8(text);
      ASSERT_EQ(!at, is_good) << before;
      if (at) {
        ASSERT_EQ(*at, before);
      }
    }
  };
  const auto byte = [](unsigned value) { return std::string(1, static_cast<char>(static_cast<unsigned char>(value))); };
  for (unsigned lead = 0xC0; lead < 0x100; ++lead) {
    for (unsigned next = 0; next < 0x100; ++next) {
      check(byte(lead) + byte(next), lead >= 0xC2 && lead <= 0xDF && next >= 0x80 && next <= 0xBF);
    }
  }
  for (const unsigned lead : {0xE0U, 0xE1U, 0xEDU, 0xEFU, 0xF0U, 0xF1U, 0xF4U, 0xF5U}) {
    for (const unsigned next : {0x7FU, 0x80U, 0x8FU, 0x90U, 0x9FU, 0xA0U, 0xBFU, 0xC0U}) {
      for (const unsigned third : {0x7FU, 0x80U, 0xBFU, 0xC0U}) {
        std::string character = byte(lead) + byte(next) + byte(third);
        if (lead >= 0xF0) character += byte(0x80);
        check(character, is_well_formed(character));
      }
    }
  }
}

// As it is defined, character by character.
std::optional<std::size_t> first_ill_formed(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (size == 0 || text.size() - at < size) return at;
    const std::string character = text.substr(at, size);
    if (std::any_of(character.begin() + 1, character.end(), [](char byte) { return !is_utf8_continuation(byte); }) ||
        !is_well_formed(character)) {
      return at;
    }
    at += size;
  }
  return std::nullopt;
}

TEST(Utf8Test, FindsTheFirstFaultInMixedTextsWithOneByteChanged) {
  std::mt19937 drawn(20261127);
  const auto below = [&drawn](std::size_t end) { return std::size_t{drawn()} % end; };
  std::size_t faults = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::size_t kinds = 1 + below(4);  // one of ASCII alone, too
    while (text.size() < 70 + static_cast<std::size_t>(round % 90)) {
      constexpr char32_t kEnds[] = {0x80, 0x800, 0x10000, 0x110000};
      char32_t c = static_cast<char32_t>(below(kEnds[below(kinds)]));
      if (c >= 0xD800 && c < 0xE000) c = U'é';
      text += encoded(c);
    }
    ASSERT_EQ(find_invalid_utf8(text), std::nullopt) << round;
    text[below(text.size())] = static_cast<char>(static_cast<unsigned char>(below(256)));
    if (round % 3 == 0) text.resize(below(text.size()));
    const auto expected = first_ill_formed(text);
    faults += expected ? 1 : 0;
    ASSERT_EQ(find_invalid_utf8(text), expected) << round;
  }
  EXPECT_GT(faults, 5'000U);
}

TEST(Utf8Test, AcceptsTextOfEveryLength) {
  const std::string text = "naïve 中文 😀 plain ascii of more than eight bytes";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const bool at_boundary = n == text.size() || !is_utf8_continuation(text[n]);
    EXPECT_EQ(!find_invalid_utf8(std::string_view(text).substr(0, n)), at_boundary) << n;
  }
}

TEST(Utf8Test, AcceptsTheLimitsOfEachLength) {
  for (const std::string& text :
       {""s, "a"s, "\x7F"s, "\xC2\x80"s, "\xDF\xBF"s, "\xE0\xA0\x80"s, "\xED\x9F\xBF"s, "\xEE\x80\x80"s,
        "\xEF\xBF\xBF"s, "\xF0\x90\x80\x80"s, "\xF4\x8F\xBF\xBF"s, "\0"s, "eight by\xC3\xA9te words"s}) {
    EXPECT_FALSE(find_invalid_utf8(text)) << text;
  }
}

TEST(Utf8Test, FindsTheFirstBadByte) {
  for (const std::string& bad :
       {"\x80"s, "\xBF"s, "\xC0\x80"s, "\xC1\xBF"s, "\xC2"s, "\xC2x"s, "\xE0\x9F\xBF"s, "\xE1\x80"s, "\xED\xA0\x80"s,
        "\xF0\x8F\xBF\xBF"s, "\xF0\x90\x80"s, "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xFF"s}) {
    EXPECT_EQ(find_invalid_utf8(bad), 0U);
    EXPECT_EQ(find_invalid_utf8("0123456789\xC3\xA9" + bad), 12U);
    EXPECT_EQ(find_invalid_utf8("a" + bad + "0123456789"), 1U);
  }
}

TEST(Utf8Test, AnErrorIsAsMuchOfACharacterAsThereIs) {
  for (const auto& [bad, size] : {std::pair("\x80"s, 1U),
                                  {"\xC0\x80"s, 1U},
                                  {"\xC2"s, 1U},
                                  {"\xC2x"s, 1U},
                                  {"\xE0\x9F\xBF"s, 1U},
                                  {"\xE1\x80"s, 2U},
                                  {"\xE1\x80x"s, 2U},
                                  {"\xED\xA0\x80"s, 1U},
                                  {"\xF0\x8F\xBF\xBF"s, 1U},
                                  {"\xF0\x90\x80"s, 3U},
                                  {"\xF1\x80\x80x"s, 3U},
                                  {"\xF4\x90\x80\x80"s, 1U},
                                  {"\xF5\x80\x80\x80"s, 1U},
                                  {"\xFF"s, 1U}}) {
    EXPECT_EQ(malformed_utf8_size(bad), size);
  }
}

TEST(Utf8Test, CutsBetweenCharacters) {
  EXPECT_EQ(cut_utf8("a\xC3\xA9z", 4), "a\xC3\xA9z");
  EXPECT_EQ(cut_utf8("a\xC3\xA9z", 3), "a\xC3\xA9");
  EXPECT_EQ(cut_utf8("a\xC3\xA9z", 2), "a");
  EXPECT_EQ(cut_utf8("a\xC3\xA9z", 0), "");
}

}  // namespace
}  // namespace latebind::core
