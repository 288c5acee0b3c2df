// The model WordLevel.
#include <gtest/gtest.h>

#include "embedding/tokenizer/part_table.h"
#include "model_tokens.h"
#include "small_tokenizer.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using Ids = std::vector<std::int32_t>;

nlohmann::json word_level(const std::vector<std::string>& words) {
  nlohmann::json file = testing::small_tokenizer(words);
  for (const char* key : {"continuing_subword_prefix", "max_input_chars_per_word"})
    file["model"].erase(key);
  file["model"]["type"] = "WordLevel";
  return file;
}

TEST(WordLevelTest, AWordIsOneTokenOrUnknown) {
  const nlohmann::json file = word_level({"hello", "hel"});
  EXPECT_EQ(testing::ids_of(file, "hello hel helloo"), (Ids{2, 4, 5, 1, 3}));
  EXPECT_EQ(testing::ids_of(file, std::string(10'000, 'a')), (Ids{2, 1, 3}));
}

TEST(WordLevelTest, TheTokenEndsWithTheWord) {
  Vocabulary vocabulary;
  ASSERT_TRUE(vocabulary.add("?", 0).ok());
  ASSERT_TRUE(vocabulary.add("word", 1).ok());
  const nlohmann::json file = {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", true}};
  const auto model = read_word_level(*JsonView::object(json_of(file), "model"), {std::move(vocabulary), {}});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(testing::ends_of(**model, "word"), std::vector<std::size_t>{4});
  EXPECT_EQ(testing::ends_of(**model, "other"), std::vector<std::size_t>{5});
}

TEST(WordLevelTest, NeedsTheUnknownToken) {
  nlohmann::json file = word_level({"hello"});
  file["model"]["unk_token"] = "<unk>";
  const auto tokenizer = testing::open(file);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_EQ(tokenizer.status().to_string(), "tokenizer.json: model.unk_token '<unk>' is not in the vocabulary");
}

}  // namespace
}  // namespace latebind::embedding
