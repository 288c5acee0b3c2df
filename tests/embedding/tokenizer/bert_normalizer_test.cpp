#include "embedding/tokenizer/normalizers/bert_normalizer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace latebind::embedding {
namespace {

constexpr BertNormalizerOptions kNothing{};
constexpr BertNormalizerOptions kClean{.clean_text = true};
constexpr BertNormalizerOptions kChinese{.handle_chinese_chars = true};
constexpr BertNormalizerOptions kStrip{.strip_accents = true};
constexpr BertNormalizerOptions kLower{.lowercase = true};
constexpr BertNormalizerOptions kAll{true, true, true, true};

std::string normalized(std::string_view text, const BertNormalizerOptions& options) {
  return BertNormalizer(options).normalize(text);
}

TEST(BertNormalizerTest, ChangesNothingWithoutOptions) {
  const std::string text("A\0\t\u00e9 \u4e2d\ufffd\u200d\u0301\u0327", 19);
  EXPECT_EQ(normalized(text, kNothing), text);
}

TEST(BertNormalizerTest, CleansControlCharactersAndWhiteSpace) {
  EXPECT_EQ(normalized(std::string_view("a\0b\x07"
                                        "c\x7f"
                                        "d",
                                        7),
                       kClean),
            "abcd");
  EXPECT_EQ(normalized("a\tb\nc\rd", kClean), "a b c d");
  EXPECT_EQ(normalized("a\u00a0b\u3000c\u2028d", kClean), "a b c d");
  EXPECT_EQ(normalized("a\ufffdb\u200dc\u00add\ufeffe", kClean), "abcde");
  EXPECT_EQ(normalized("a\u0085b\vc", kClean), "abc");  // control characters first, white space second
}

TEST(BertNormalizerTest, SetsIdeographsApart) {
  EXPECT_EQ(normalized("a中b文", kChinese), "a 中 b 文 ");
  EXPECT_EQ(normalized("ひカ한", kChinese), "ひカ한");
  EXPECT_EQ(normalized("\uf900", kAll), " \u8c48 ");  // a compatibility ideograph
}

TEST(BertNormalizerTest, StripsAccents) {
  EXPECT_EQ(normalized("ÀÉîõü Źdźbło", kStrip), "AEiou Zdzbło");
  EXPECT_EQ(normalized("e\u0301\u0327x", kStrip), "ex");
  EXPECT_EQ(normalized("\u0301", kStrip), "");
  EXPECT_EQ(normalized("한", kStrip), "\u1112\u1161\u11ab");
}

TEST(BertNormalizerTest, LowersCase) {
  EXPECT_EQ(normalized("ABC ÀÉ ΣΑΣ İ", kLower), "abc àé σασ i\u0307");
  EXPECT_EQ(normalized("İ", kAll), "i");  // the dot is stripped first
}

TEST(BertNormalizerTest, PutsMarksThatStayIntoCanonicalOrder) {
  // U+302E (class 224) and U+1D165 (216) are spacing marks; U+302B is stripped and does not end the run.
  EXPECT_EQ(normalized("x\u302e\U0001d165y", kStrip), "x\U0001d165\u302ey");
  EXPECT_EQ(normalized("x\u302e\u302b\U0001d165y", kStrip), "x\U0001d165\u302ey");
  EXPECT_EQ(normalized("\u302e\U0001d165", kStrip), "\U0001d165\u302e");
  EXPECT_EQ(normalized("x\u302e\u0001\U0001d165y", kAll), "x\U0001d165\u302ey");  // cleaned away before
  EXPECT_EQ(normalized("x\u302e\u0001\U0001d165y", kStrip), "x\u302e\u0001\U0001d165y");
  EXPECT_EQ(normalized("x\u302e\U0001d165", kLower), "x\u302e\U0001d165");  // no NFD, no order
  // A half note is a note head and a stem, and the stem takes part in the run that follows.
  EXPECT_EQ(normalized("\U0001d15e\u302e\U0001d165", kStrip), "\U0001d157\U0001d165\U0001d165\u302e");
}

TEST(BertNormalizerTest, GivesManyThreadsTheSamePages) {
  std::string text;
  for (char32_t c = 0x80; c < 0x30000; c += 37) {
    if (c < 0xD800 || c > 0xDFFF) core::encode_utf8(c, [&text](char byte) { text.push_back(byte); });
  }
  const std::string expected = normalized(text, kAll);
  for (int round = 0; round < 10; ++round) {
    const BertNormalizer normalizer(kAll);
    std::atomic<int> equal = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] { equal += normalizer.normalize(text) == expected ? 1 : 0; });
    for (auto& thread : threads)
      thread.join();
    EXPECT_EQ(equal, 8);
  }
}

}  // namespace
}  // namespace latebind::embedding
