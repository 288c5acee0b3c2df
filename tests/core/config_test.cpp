#include "core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/text/nearest_word.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

TEST(WordsTest, EveryWordReadsBackAsItself) {
  for (const auto& word : Words<Precision>::kWords) {
    EXPECT_EQ(*parse_word<Precision>(word.text), word.value);
    EXPECT_EQ(word_of(word.value), word.text);
  }
}

TEST(WordsTest, UnknownWordListsTheKnownAndSuggestsTheNearest) {
  const auto refused = parse_word<Precision>("fp16");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().to_string(), HasSubstr("unknown precision 'fp16'"));
  EXPECT_THAT(refused.status().to_string(), HasSubstr("f32, bf16, f16, int8, fast"));
  EXPECT_THAT(refused.status().to_string(), HasSubstr("did you mean"));
}

TEST(WordsTest, SwappedLettersAreOneMistake) {
  const std::string_view known[] = {"auto", "npu", "gpu", "cpu"};
  EXPECT_EQ(nearest_word("nup", known), "npu");
  EXPECT_EQ(nearest_word("quantum", known), "");
  EXPECT_EQ(nearest_word("", known), "");
}

TEST(WordsTest, VeryLongWordsAreCutInTheMessage) {
  const std::string given(100000, 'x');
  EXPECT_LT(parse_word<Precision>(given).status().to_string().size(), 300U);
}

TEST(ParseIntegerTest, TakesWholeNumbersInRangeOnly) {
  EXPECT_EQ(*parse_integer("threads", "8", 0, 100), 8);
  for (const char* bad : {"", "8x", " 8", "+8", "101", "-1", "1e2", "99999999999999999999"}) {
    EXPECT_FALSE(parse_integer("threads", bad, 0, 100).ok()) << bad;
  }
}

}  // namespace
}  // namespace latebind::core
