// Identity with ids that the reference gave, for the real model's tokenizer.json, and for one as XLM-RoBERTa's.
#include "recorded.h"

#include <gtest/gtest.h>

#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

TEST(RecordedTest, GivesTheIdsOfTheReference) {
  const auto file = testing::model_tokenizer_file();
  ASSERT_TRUE(std::filesystem::exists(file)) << file << " is missing: run scripts/setup";
  const auto tokenizer = Tokenizer::from_file(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  EXPECT_EQ(tokenizer->vocabulary_size(), 30522U);

  const auto recorded = testing::recorded_texts();
  for (const auto& [text, ids] : recorded)
    ASSERT_EQ(testing::ids_of(*tokenizer, text), ids) << text;
  EXPECT_GE(recorded.size(), 2500U);
}

TEST(RecordedTest, GivesTheIdsOfTheReferenceForUnigram) {
  const auto tokenizer = Tokenizer::from_file(testing::recorded_file("unigram.json"));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  const auto recorded = testing::recorded_texts("unigram.jsonl");
  for (const auto& [text, ids] : recorded)
    ASSERT_EQ(testing::ids_of(*tokenizer, text), ids) << text;
  EXPECT_GE(recorded.size(), 800U);
}

}  // namespace
}  // namespace latebind::embedding
