// Where graphemes end.
#include "embedding/tokenizer/graphemes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace latebind::embedding {
namespace {

std::vector<std::string> graphemes_of(std::string_view text) {
  std::vector<std::string> graphemes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_grapheme(text, at);
    EXPECT_LT(at, end);
    graphemes.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return graphemes;
}

using Graphemes = std::vector<std::string>;

TEST(GraphemesTest, KeepsMarksWithWhatTheyStandOn) {
  EXPECT_EQ(graphemes_of("ae\u0301\u0302b"), (Graphemes{"a", "e\u0301\u0302", "b"}));
  EXPECT_EQ(graphemes_of("\u0915\u0903x"), (Graphemes{"\u0915\u0903", "x"}));
  EXPECT_EQ(graphemes_of("\u0600ab"), (Graphemes{"\u0600a", "b"}));
  EXPECT_EQ(graphemes_of("\u0301"), (Graphemes{"\u0301"}));
}

TEST(GraphemesTest, PartsLinesAndControls) {
  EXPECT_EQ(graphemes_of("\r\n\n\ra"), (Graphemes{"\r\n", "\n", "\r", "a"}));
  EXPECT_EQ(graphemes_of("\x01\u0301\u0302"), (Graphemes{"\x01", "\u0301\u0302"}));
  EXPECT_EQ(graphemes_of("a\u00ad\u0600\n"), (Graphemes{"a", "\u00ad", "\u0600", "\n"}));
}

TEST(GraphemesTest, JoinsHangul) {
  EXPECT_EQ(graphemes_of("\u1100\u1100\u1161\u11a8\u1100"), (Graphemes{"\u1100\u1100\u1161\u11a8", "\u1100"}));
  EXPECT_EQ(graphemes_of("\uac00\u1161\u11a8\u1161"), (Graphemes{"\uac00\u1161\u11a8", "\u1161"}));
  EXPECT_EQ(graphemes_of("\uac01\u1161"), (Graphemes{"\uac01", "\u1161"}));
}

TEST(GraphemesTest, JoinsPictographsByTheJoinerAlone) {
  EXPECT_EQ(graphemes_of("😀👍🏽"), (Graphemes{"😀", "👍🏽"}));
  EXPECT_EQ(graphemes_of("👩\u200d👧x\u200d👧"), (Graphemes{"👩\u200d👧", "x\u200d", "👧"}));
  EXPECT_EQ(graphemes_of("❤\ufe0f\u200d🔥"), (Graphemes{"❤\ufe0f\u200d🔥"}));
  EXPECT_EQ(graphemes_of("👩\u200d\u200d👧"), (Graphemes{"👩\u200d\u200d", "👧"}));
}

TEST(GraphemesTest, JoinsConjuncts) {
  EXPECT_EQ(graphemes_of("क\u094dष"), (Graphemes{"क\u094dष"}));
  EXPECT_EQ(graphemes_of("क\u094d\u200dषक"), (Graphemes{"क\u094d\u200dष", "क"}));
  EXPECT_EQ(graphemes_of("क\u093c\u094dष"), (Graphemes{"क\u093c\u094dष"}));
  EXPECT_EQ(graphemes_of("क\u094d\u200cष"), (Graphemes{"क\u094d\u200c", "ष"}));
  EXPECT_EQ(graphemes_of("x\u094dष"), (Graphemes{"x\u094d", "ष"}));
}

}  // namespace
}  // namespace latebind::embedding
