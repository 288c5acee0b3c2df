#include "embedding/inputs/token_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/embedding/toy_encoder.h"

namespace latebind::embedding {
namespace {

using ::testing::HasSubstr;

std::vector<std::int32_t> ids(const TokenTable& table, std::size_t text) {
  return {table.ids(text).begin(), table.ids(text).end()};
}

TEST(TokenTableTest, KeepsTheIdsOfEachText) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, {8, 0}, "word").ok());
  ASSERT_TRUE(table.add(tokenizer, {8, 0}, "").ok());
  EXPECT_EQ(ids(table, 0), (std::vector<std::int32_t>{2, 4, 3}));
  EXPECT_EQ(ids(table, 1), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(table.truncated(), 0U);
}

TEST(TokenTableTest, CountsOnlyTheTextsThatWereCut) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, {4, 0}, "word").ok());
  ASSERT_TRUE(table.add(tokenizer, {4, 0}, "word word").ok());  // exactly as long as allowed
  EXPECT_EQ(table.truncated(), 0U);
  ASSERT_TRUE(table.add(tokenizer, {4, 0}, "word word word").ok());
  EXPECT_EQ(table.truncated(), 1U);
  EXPECT_EQ(ids(table, 1), (std::vector<std::int32_t>{2, 4, 4, 3}));
  EXPECT_EQ(ids(table, 2), ids(table, 1));
}

TEST(TokenTableTest, AnErrorLeavesTheTableAsItWas) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, {8, 0}, "word").ok());
  EXPECT_FALSE(table.add(tokenizer, {8, 0}, "word \xff").ok());
  ASSERT_TRUE(table.add(tokenizer, {8, 0}, "a").ok());
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(ids(table, 1), (std::vector<std::int32_t>{2, 5, 3}));
}

TEST(TokenTableTest, IdsThatTheModelDoesNotKnowAreRefused) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  EXPECT_TRUE(table.add(tokenizer, {8, 6}, "word a").ok());
  const auto status = table.add(tokenizer, {8, 6}, "word b");
  EXPECT_EQ(status.code(), core::StatusCode::kInvalidModel);
  EXPECT_THAT(status.to_string(), HasSubstr("token id 7"));
  EXPECT_EQ(table.size(), 1U);
}

TEST(TokenTableTest, AppendsAnotherTable) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable first;
  TokenTable second;
  ASSERT_TRUE(first.add(tokenizer, {3, 0}, "word").ok());
  ASSERT_TRUE(second.add(tokenizer, {3, 0}, "a b c").ok());
  ASSERT_TRUE(second.add(tokenizer, {3, 0}, "").ok());
  first.append(second);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(ids(first, 0), (std::vector<std::int32_t>{2, 4, 3}));
  EXPECT_EQ(ids(first, 1), (std::vector<std::int32_t>{2, 5, 3}));
  EXPECT_EQ(ids(first, 2), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(first.truncated(), 1U);
  first.clear();
  EXPECT_EQ(first.size(), 0U);
  EXPECT_EQ(first.truncated(), 0U);
}

TEST(TokenTableTest, SaysWhichTokensOfAPromptAreLeftOut) {
  const auto tokenizer = test::toy_tokenizer();
  // "[CLS] a word" of "[CLS] a word … [SEP]".
  const TokenLimits limits{.max_tokens = 6, .prompt = "a word ", .prompt_tokens = 3};
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, {.max_tokens = 6}, "word").ok());
  ASSERT_TRUE(table.add(tokenizer, limits, "b").ok());
  ASSERT_TRUE(table.add(tokenizer, limits, "").ok());
  ASSERT_TRUE(table.add(std::vector<std::int32_t>{2, 4, 3}, limits).ok());
  // Of a text that is cut at its beginning, so much of the prompt as is left.
  TokenLimits end = limits;
  end.keep_end = true;
  ASSERT_TRUE(table.add(tokenizer, end, "b b b").ok());
  ASSERT_TRUE(table.add(tokenizer, end, "b b b b b b b").ok());
  TokenTable all;
  all.append(table);
  ASSERT_TRUE(all.add(tokenizer, {.max_tokens = 6}, "word").ok());
  all.append(table);
  std::vector<std::size_t> from;
  for (std::size_t text = 0; text < all.size(); ++text)
    from.push_back(all.pooled_from(text));
  EXPECT_EQ(from, (std::vector<std::size_t>{0, 3, 3, 0, 2, 1, 0, 0, 3, 3, 0, 2, 1}));
  all.clear();
  ASSERT_TRUE(all.add(tokenizer, {.max_tokens = 6}, "word").ok());
  EXPECT_EQ(all.pooled_from(0), 0U);
  TokenLimits none = limits;
  none.max_tokens = 3;
  EXPECT_EQ(all.add(tokenizer, none, "b").code(), core::StatusCode::kInvalidArgument);
  EXPECT_EQ(all.size(), 1U);
}

TEST(TokenTableTest, SaysWhichTextsWereCut) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  TokenTable other;
  for (const char* text : {"a b c", "a", "a b c d"})
    ASSERT_TRUE(table.add(tokenizer, {4, 0}, text).ok());
  for (const char* text : {"a", "d c b a"})
    ASSERT_TRUE(other.add(tokenizer, {4, 0}, text).ok());
  table.append(other);
  std::vector<bool> cut;
  for (std::size_t text = 0; text < table.size(); ++text)
    cut.push_back(table.is_truncated(text));
  EXPECT_EQ(cut, (std::vector<bool>{true, false, true, false, true}));
}

TEST(TokenTableTest, ALongerTextIsRefusedWhereThatIsAskedFor) {
  const auto tokenizer = test::toy_tokenizer();
  const TokenLimits limits{.max_tokens = 4, .refuse_longer = true};
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, limits, "word word").ok());  // exactly as long as allowed
  const auto status = table.add(tokenizer, limits, "word word word");
  EXPECT_EQ(status.code(), core::StatusCode::kTextTooLong);
  EXPECT_THAT(status.to_string(), HasSubstr("the text has 5 tokens; at most 4 are taken"));
  // Of a very long one the count ends.
  std::string endless;
  for (int i = 0; i < 140'000; ++i)
    endless += "a ";
  EXPECT_THAT(table.add(tokenizer, limits, endless).to_string(),
              HasSubstr("the text has more than 131072 tokens; at most 4 are taken"));
  ASSERT_TRUE(table.add(tokenizer, limits, "a").ok());
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(ids(table, 1), (std::vector<std::int32_t>{2, 5, 3}));
  EXPECT_EQ(table.truncated(), 0U);
}

TEST(TokenTableTest, ALongerTextIsCutAtItsBeginningWhereThatIsAskedFor) {
  const auto tokenizer = test::toy_tokenizer();
  const TokenLimits limits{.max_tokens = 4, .keep_end = true};
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, limits, "a b c").ok());
  ASSERT_TRUE(table.add(tokenizer, limits, "b c").ok());  // exactly as long as allowed
  ASSERT_TRUE(table.add(std::vector<std::int32_t>{2, 5, 7, 9, 3}, limits).ok());
  EXPECT_EQ(ids(table, 0), (std::vector<std::int32_t>{2, 7, 9, 3}));
  EXPECT_EQ(ids(table, 1), ids(table, 0));
  EXPECT_EQ(ids(table, 2), (std::vector<std::int32_t>{5, 7, 9, 3}));
  EXPECT_TRUE(table.is_truncated(0));
  EXPECT_FALSE(table.is_truncated(1));
  EXPECT_TRUE(table.is_truncated(2));
  const auto refused = table.add(tokenizer, {.max_tokens = 4, .refuse_longer = true, .keep_end = true}, "a b c");
  EXPECT_EQ(refused.code(), core::StatusCode::kTextTooLong);
  EXPECT_THAT(refused.to_string(), HasSubstr("the text has 5 tokens; at most 4 are taken"));
  EXPECT_EQ(table.size(), 3U);
}

TEST(TokenTableTest, ATextOfWhichNothingWouldBeLeftIsRefused) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  for (const bool keep_end : {false, true}) {
    const auto refused = table.add(tokenizer, {.max_tokens = 2, .keep_end = keep_end}, "a b");
    EXPECT_EQ(refused.code(), core::StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.to_string(),
                HasSubstr("at most 2 tokens leave none of the text: 2 are special ones; take more"));
    EXPECT_TRUE(table.add(tokenizer, {.max_tokens = 2, .keep_end = keep_end}, "").ok());
    EXPECT_TRUE(table.add(tokenizer, {.max_tokens = 3, .keep_end = keep_end}, "a b").ok());
  }
  EXPECT_EQ(table.size(), 4U);
  EXPECT_EQ(ids(table, 1), (std::vector<std::int32_t>{2, 5, 3}));
}

TEST(TokenTableTest, APromptThatLeavesNothingOfATextIsRefused) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  const auto refused = table.add(tokenizer, {.max_tokens = 4, .prompt = "word word "}, "a b");
  EXPECT_EQ(refused.code(), core::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.to_string(), HasSubstr("2 are special ones, the others the prompt's"));
  EXPECT_TRUE(table.add(tokenizer, {.max_tokens = 5, .prompt = "word word "}, "a b").ok());
  // The text's own end stays.
  EXPECT_TRUE(table.add(tokenizer, {.max_tokens = 4, .keep_end = true, .prompt = "word word "}, "a b").ok());
  // There is nothing that it could leave.
  EXPECT_TRUE(table.add(tokenizer, {.max_tokens = 4, .prompt = "word word "}, "").ok());
  EXPECT_EQ(table.size(), 3U);
}

// Before another text a prompt has other tokens than alone.
TEST(TokenTableTest, WhatIsLeftOfATextIsKnownByItsPlaces) {
  const auto tokenizer = Tokenizer::from_json(
      R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},
          "model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2,"d":3,"cd":4,"bc":5,"abc":6,"Ġ":7,"Ġe":8,"e":9},
                   "merges":["c d","b c","a bc","Ġ e"]}})",
      "tokenizer.json");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  TokenTable table;
  // "abc" is one token alone; "abcd e" is a, b, cd and " e".
  const auto refused = table.add(*tokenizer, {.max_tokens = 2, .prompt = "abc"}, "d e");
  EXPECT_EQ(refused.code(), core::StatusCode::kInvalidArgument);
  EXPECT_TRUE(table.add(*tokenizer, {.max_tokens = 3, .prompt = "abc"}, "d e").ok());
  // "abc " is two tokens alone, and the second is the text's before "e".
  EXPECT_TRUE(table.add(*tokenizer, {.max_tokens = 2, .prompt = "abc "}, "e d").ok());
  EXPECT_EQ(ids(table, 1), (std::vector<std::int32_t>{6, 8}));
  // Long texts as well.
  std::string many = "d";
  for (int i = 0; i < 500; ++i)
    many += " e";
  EXPECT_FALSE(table.add(*tokenizer, {.max_tokens = 2, .prompt = "abc"}, many).ok());
  EXPECT_TRUE(table.add(*tokenizer, {.max_tokens = 3, .prompt = "abc"}, many).ok());
}

TEST(TokenTableTest, AnEmptyTextBehindALongPromptIsComputed) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  EXPECT_TRUE(table.add(tokenizer, {.max_tokens = 3, .prompt = "word word "}, "").ok());
}

TEST(TokenTableTest, APairOfWhichATextIsCutAwayIsRefused) {
  const auto tokenizer = test::toy_tokenizer();
  TokenTable table;
  std::vector<std::int32_t> special;
  ASSERT_TRUE(tokenizer.encode_pair("", "", {.max_tokens = 8}, special).ok());
  const auto refused = table.add(tokenizer, {.max_tokens = special.size() + 1}, TextPair{"a b", "word b"});
  EXPECT_EQ(refused.code(), core::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.to_string(), HasSubstr("leave none of one of the two texts"));
  EXPECT_TRUE(table.add(tokenizer, {.max_tokens = special.size() + 1}, TextPair{"", "word b"}).ok());
  EXPECT_TRUE(table.add(tokenizer, {.max_tokens = special.size() + 2}, TextPair{"a b", "word b"}).ok());
  EXPECT_EQ(table.size(), 2U);
}

TEST(TokenTableTest, TakesIdsThatAreKnownAlready) {
  TokenTable table;
  const std::vector<std::int32_t> exact{2, 4, 5, 3};
  const std::vector<std::int32_t> longer{2, 4, 5, 6, 3};
  ASSERT_TRUE(table.add(exact, {4, 57}).ok());
  EXPECT_EQ(table.truncated(), 0U);
  ASSERT_TRUE(table.add(longer, {4, 57}).ok());
  EXPECT_EQ(ids(table, 0), exact);
  EXPECT_EQ(ids(table, 1), (std::vector<std::int32_t>{2, 4, 5, 6}));
  EXPECT_EQ(table.truncated(), 1U);
  EXPECT_TRUE(table.is_truncated(1));
  const auto refused = table.add(longer, {.max_tokens = 4, .vocabulary_size = 57, .refuse_longer = true});
  EXPECT_EQ(refused.code(), core::StatusCode::kTextTooLong);
  EXPECT_THAT(refused.to_string(), HasSubstr("the text has 5 tokens; at most 4 are taken"));
  EXPECT_EQ(table.size(), 2U);
}

TEST(TokenTableTest, IdsThatThereAreNotAreRefusedByTheirNumber) {
  TokenTable table;
  const std::vector<std::int32_t> too_large{2, 57, 3};
  const std::vector<std::int32_t> below_zero{2, -1, 3};
  for (const auto& given : {too_large, below_zero}) {
    const auto status = table.add(given, {8, 57});
    EXPECT_EQ(status.code(), core::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.to_string(), HasSubstr("no token has the id " + std::to_string(given[1])));
  }
  EXPECT_THAT(table.add(std::vector<std::int32_t>{}, {8, 57}).to_string(), HasSubstr("there is no token in it"));
  EXPECT_EQ(table.size(), 0U);
}

TEST(TokenTableTest, ShortTextsAreFilledUpWithWhatNothingAttendsTo) {
  const auto tokenizer = test::toy_tokenizer();
  TokenLimits limits{.max_tokens = 8};
  limits.filling = Filling{.length = 5, .id = 6};
  TokenTable table;
  for (const char* text : {"word", "word word word", "word word word word word"})
    ASSERT_TRUE(table.add(tokenizer, limits, text).ok());
  EXPECT_EQ(ids(table, 0), (std::vector<std::int32_t>{2, 4, 3, 6, 6}));
  EXPECT_EQ(table.unattended_from(0), 3U);
  EXPECT_EQ(table.unattended_from(1), 5U);
  EXPECT_EQ(ids(table, 2).size(), 7U);
  EXPECT_EQ(table.unattended_from(2), 7U);
  EXPECT_EQ(table.truncated(), 0U);
  EXPECT_EQ(table.vector_count(), 17U);

  limits.filling->is_attended = true;
  TokenTable attended;
  ASSERT_TRUE(attended.add(tokenizer, limits, "word").ok());
  EXPECT_EQ(ids(attended, 0), ids(table, 0));
  EXPECT_EQ(attended.unattended_from(0), 5U);
  attended.append(table);
  EXPECT_EQ(attended.unattended_from(1), 3U);
  EXPECT_EQ(attended.unattended_from(3), 7U);
}

TEST(TokenTableTest, OnlyTokensThatTheFilterKeepsHaveVectors) {
  const auto tokenizer = test::toy_tokenizer();
  TokenLimits limits{.max_tokens = 8};
  limits.filter = std::make_shared<const TokenFilter>(TokenFilter{.left_out = {3, 4}});
  TokenTable table;
  ASSERT_TRUE(table.add(tokenizer, limits, "word a word").ok());
  ASSERT_TRUE(table.add(tokenizer, limits, "word").ok());
  EXPECT_THAT(table.kept(0), ::testing::ElementsAre(1, 0, 1, 0, 0));
  EXPECT_THAT(table.vector_counts(), ::testing::ElementsAre(2, 1));
  EXPECT_EQ(table.vectors_before(1), 2U);
  TokenTable both;
  both.append(table);
  both.append(table);
  EXPECT_EQ(both.vector_count(), 6U);
  EXPECT_EQ(both.vectors_before(3), 5U);
  EXPECT_THAT(both.kept(2), ::testing::ElementsAre(1, 0, 1, 0, 0));

  // Some alone, and of what fills texts up none.
  limits.filter = std::make_shared<const TokenFilter>(TokenFilter{.left_out = {4}, .only = {2, 4, 6}});
  limits.filling = Filling{.length = 6, .id = 6, .is_kept = false};
  table.clear();
  EXPECT_EQ(table.vector_count(), 0U);
  ASSERT_TRUE(table.add(tokenizer, limits, "word a").ok());
  EXPECT_THAT(table.kept(0), ::testing::ElementsAre(1, 0, 0, 0, 0, 0));
}

TEST(TokenTableTest, NothingFillsUpATextWithoutTokens) {
  TokenLimits limits{.max_tokens = 8};
  limits.filling = Filling{.length = 5, .id = 6};
  TokenTable table;
  EXPECT_EQ(table.add(std::vector<std::int32_t>(), limits).code(), core::StatusCode::kInvalidArgument);
  EXPECT_TRUE(table.add(std::vector<std::int32_t>{2, 3}, limits).ok());
  EXPECT_EQ(ids(table, 0), (std::vector<std::int32_t>{2, 3, 6, 6, 6}));
}

}  // namespace
}  // namespace latebind::embedding
