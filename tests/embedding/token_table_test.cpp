#include "embedding/token_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace latebind::embedding
