#include "embedding/tokenizer/added_tokens.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace latebind::embedding {
namespace {

AddedToken token(std::string content, std::int32_t id = 1) {
  AddedToken made;
  made.content = std::move(content);
  made.id = id;
  return made;
}

// Pieces joined by '|', tokens in angle brackets.
std::string split(const AddedTokenMatcher& matcher, std::string_view text) {
  AddedTokenSplitter splitter(matcher, text);
  AddedTokenSplitter::Piece piece;
  std::string out;
  while (splitter.next(piece)) {
    if (!out.empty()) out += '|';
    out += piece.token != nullptr ? '<' + std::string(piece.text) + '>' : std::string(piece.text);
  }
  return out;
}

std::string split(std::vector<AddedToken> tokens, std::string_view text) {
  auto matcher = AddedTokenMatcher::create(std::move(tokens));
  EXPECT_TRUE(matcher.ok()) << matcher.status().to_string();
  return matcher.ok() ? split(*matcher, text) : "";
}

TEST(AddedTokensTest, CutsTheTextAtTokens) {
  EXPECT_EQ(split({token("[A]"), token("[B]")}, "x[A]y [B][A]"), "x|<[A]>|y |<[B]>|<[A]>");
  EXPECT_EQ(split({token("[A]")}, "[[A] [A"), "[|<[A]>| [A");
  EXPECT_EQ(split({token("[A]")}, ""), "");
  EXPECT_EQ(split({token("[A]")}, "plain"), "plain");
  EXPECT_EQ(split(std::vector<AddedToken>{}, "plain"), "plain");
}

TEST(AddedTokensTest, TakesTheLeftmostAndThenTheLongest) {
  EXPECT_EQ(split({token("ab"), token("abcd"), token("bcde")}, "xabcde"), "x|<abcd>|e");
  EXPECT_EQ(split({token("ab"), token("abcd"), token("bcde")}, "xabcx"), "x|<ab>|cx");
  EXPECT_EQ(split({token("abcd"), token("bc")}, "abcx"), "a|<bc>|x");
  EXPECT_EQ(split({token("aa")}, "aaaaa"), "<aa>|<aa>|a");
}

TEST(AddedTokensTest, TakesTokensOf64KiBThatDifferInTheirFirstBytes) {
  const std::string same(511, ' ');
  const std::string longest = same + std::string(65'536 - 511, 'a');
  const std::vector<AddedToken> tokens{token(longest), token(same + "b" + same), token(same)};
  EXPECT_EQ(split(tokens, "x" + longest + "a"), "x|<" + longest + ">|a");
  EXPECT_EQ(split(tokens, same + "b" + same + "x"), "<" + same + "b" + same + ">|x");
  EXPECT_EQ(split(tokens, longest.substr(0, 65'535)), "<" + same + ">|" + std::string(65'535 - 511, 'a'));
  for (const char* end : {"", "b"}) {
    const auto refused = AddedTokenMatcher::create({token(same + " "), token(same + " a" + end)});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().to_string(), "the first 512 bytes of two added tokens are the same");
  }
}

TEST(AddedTokensTest, SingleWordStandsBetweenNoWordCharacters) {
  AddedToken word = token("day");
  word.single_word = true;
  EXPECT_EQ(split({word}, "day monday daylight a-day. day"), "<day>| monday daylight a-|<day>|. |<day>");
  EXPECT_EQ(split({word}, "éday dayé _day 中day"), "éday dayé _day 中day");
}

TEST(AddedTokensTest, StripsTakeWhiteSpaceAlong) {
  AddedToken left = token("<L>");
  left.lstrip = true;
  AddedToken right = token("<R>");
  right.rstrip = true;
  EXPECT_EQ(split({left}, "a \u3000<L> b"), "a|< \u3000<L>>| b");
  EXPECT_EQ(split({right}, "a <R> \u00a0b"), "a |<<R> \u00a0>|b");
  EXPECT_EQ(split({left, right}, "<R>   <L>"), "<<R>   >|<<L>>");
  EXPECT_EQ(split({left}, "   <L>"), "<   <L>>");
  EXPECT_EQ(split({right}, "<R>   "), "<<R>   >");
  AddedToken space = token("  ");
  space.lstrip = true;
  EXPECT_EQ(split({right, space}, "<R>  a"), "<<R>  >|a") << "nothing is left of the other one, as in the reference";
}

TEST(AddedTokensTest, RefusesTwoThatLookForTheSame) {
  EXPECT_FALSE(AddedTokenMatcher::create({token("x", 1), token("x", 2)}).ok());
}

// Quadratic walks would take minutes here.
TEST(AddedTokensTest, IsLinearInHostileTexts) {
  AddedToken space = token(" ");
  space.rstrip = true;
  AddedToken left = token("<L>");
  left.lstrip = true;
  const std::string spaces(2'000'000, ' ');
  const auto matcher = AddedTokenMatcher::create({space, left, token(std::string(100, 'a') + "b")});
  ASSERT_TRUE(matcher.ok());
  AddedTokenSplitter::Piece piece;
  std::size_t pieces = 0;
  for (AddedTokenSplitter splitter(*matcher, spaces); splitter.next(piece);)
    ++pieces;
  EXPECT_EQ(pieces, spaces.size());
  const std::string as(2'000'000, 'a');
  EXPECT_EQ(split(*matcher, as), as);
}

}  // namespace
}  // namespace latebind::embedding
