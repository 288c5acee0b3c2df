// Identity with ids that the reference gave (recorded by compare_with_oracle.py), for the real model's tokenizer.json.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

TEST(RecordedTest, GivesTheIdsOfTheReference) {
  const std::filesystem::path source = LATEBIND_SOURCE_DIR;
  const auto file = source / "build/runtime/model/all-MiniLM-L6-v2/tokenizer.json";
  ASSERT_TRUE(std::filesystem::exists(file)) << file << " is missing: run scripts/setup";
  const auto tokenizer = Tokenizer::from_file(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  EXPECT_EQ(tokenizer->vocabulary_size(), 30522U);

  std::ifstream recorded(source / "tests/data/tokenizer/all-MiniLM-L6-v2.jsonl");
  ASSERT_TRUE(recorded.is_open());
  int lines = 0;
  for (std::string line; std::getline(recorded, line); ++lines) {
    const auto entry = nlohmann::json::parse(line);
    const auto expected = entry["ids"].get<std::vector<std::int32_t>>();
    ASSERT_EQ(testing::ids_of(*tokenizer, entry["text"].get<std::string>()), expected) << line;
  }
  EXPECT_GE(lines, 2500);
}

}  // namespace
}  // namespace latebind::embedding
