#include "embedding/tokenizer/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace latebind::embedding {
namespace {

std::string encoded(char32_t c) {
  std::string out;
  encode_utf8(c, [&out](char byte) { out.push_back(byte); });
  return out;
}

TEST(Utf8Test, DecodesWhatItEncodesForEveryCodePoint) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c == 0xD800) c = 0xE000;
    const std::string text = encoded(c);
    ASSERT_EQ(find_invalid_utf8(text), std::string_view::npos) << static_cast<unsigned>(c);
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

TEST(Utf8Test, AcceptsTextOfEveryLength) {
  const std::string text = "naïve 中文 😀 plain ascii of more than eight bytes";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const bool at_boundary = n == text.size() || !is_utf8_continuation(text[n]);
    EXPECT_EQ(find_invalid_utf8(std::string_view(text).substr(0, n)) == std::string_view::npos, at_boundary) << n;
  }
}

}  // namespace
}  // namespace latebind::embedding
