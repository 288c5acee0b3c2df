#include "embedding/tokenizer/pre_tokenizers/bert_pre_tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "embedding/tokenizer/fused_words.h"
#include "embedding/tokenizer/normalizers/bert_normalizer.h"
#include "words.h"

namespace latebind::embedding {
namespace {

using Words = std::vector<std::string>;

// Those of the fused walk.
Words fused_words_of(std::string_view text, const BertNormalizerOptions& options, std::size_t chars_max) {
  const CharMap map(options);
  WordBuffer buffer(chars_max);
  Words words;
  for_each_word(text, map, buffer, [&](std::string_view word, bool too_long) {
    words.emplace_back(too_long ? "(too long)" : word);
    return true;
  });
  return words;
}

// Those of the parts, one after the other, which are the fused walk's.
Words words_of(std::string_view text, const BertNormalizerOptions& options = {}) {
  const std::string normalized = BertNormalizer(options).normalize(text);
  Words words = testing::words_of(BertPreTokenizer(), normalized);
  EXPECT_EQ(fused_words_of(text, options, 1'000'000), words);
  return words;
}

TEST(BertPreTokenizerTest, SplitsAtWhiteSpaceAndAroundPunctuation) {
  EXPECT_EQ(words_of("Hey friend!     How are you?!?"),
            (Words{"Hey", "friend", "!", "How", "are", "you", "?", "!", "?"}));
  EXPECT_EQ(words_of("a_b $5 €5 a\u3000b。c"), (Words{"a", "_", "b", "$", "5", "€5", "a", "b", "。", "c"}));
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of(" \t\n"), Words{});
}

TEST(BertPreTokenizerTest, SetsIdeographsApartOnlyWhenAsked) {
  EXPECT_EQ(words_of("a中文b"), (Words{"a中文b"}));
  EXPECT_EQ(words_of("a中文b", {.handle_chinese_chars = true}), (Words{"a", "中", "文", "b"}));
}

TEST(BertPreTokenizerTest, SplitsWhatTheNormalizerMakes) {
  // The Greek question mark decomposes to a semicolon.
  EXPECT_EQ(words_of("τί\u037e", {.strip_accents = true}), (Words{"τι", ";"}));
  EXPECT_EQ(words_of("a\u0301\u200db", {true, true, true, true}), (Words{"ab"}));
}

TEST(BertPreTokenizerTest, CountsCodePointsAndTellsWhatIsTooLong) {
  EXPECT_EQ(fused_words_of("ab abc abcd", {}, 3), (Words{"ab", "abc", "(too long)"}));
  EXPECT_EQ(fused_words_of("éé ééé éééé", {}, 3), (Words{"éé", "ééé", "(too long)"}));
  EXPECT_EQ(fused_words_of("a!", {}, 0), (Words{"(too long)", "(too long)"}));
  const std::string long_word(1'000'000, 'x');
  EXPECT_EQ(fused_words_of(long_word + " y", {}, 100), (Words{"(too long)", "y"}));
}

TEST(BertPreTokenizerTest, ALongRunOfMarksIsTooLongWhateverItsOrder) {
  std::string marks = "x";
  for (int i = 0; i < 50; ++i)
    marks += "\u302e\U0001d165";
  EXPECT_EQ(fused_words_of(marks + " y", {.strip_accents = true}, 100), (Words{"(too long)", "y"}));
  std::string fits = "x";
  for (int i = 0; i < 99; ++i)
    fits += "\u302e";
  EXPECT_EQ(fused_words_of(fits, {.strip_accents = true}, 100), (Words{fits}));
  EXPECT_EQ(fused_words_of(fits + "\u302e", {.strip_accents = true}, 100), (Words{"(too long)"}));
}

TEST(BertPreTokenizerTest, StopsWhenToldTo) {
  const CharMap map(BertNormalizerOptions{});
  WordBuffer buffer(100);
  int seen = 0;
  EXPECT_FALSE(for_each_word("a b c d", map, buffer, [&](std::string_view, bool) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
  seen = 0;
  testing::WordFunction sink([&](const Word&) { return ++seen < 2; });
  for (const std::string_view text : {"a b c d", "a!b", "!!!", "a b"}) {
    seen = 0;
    EXPECT_FALSE(BertPreTokenizer().split(text, sink)) << text;
    EXPECT_EQ(seen, 2) << text;
  }
}

}  // namespace
}  // namespace latebind::embedding
