// Folders without a tokenizer.json: the ids that transformers gives for them, and what is refused.
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string data_file(const std::string& name) {
  const auto path = std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/tokenizer_folders" / name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder: its config.json and what is beside it.
struct Folder {
  json config = json::object();
  VocabularyFiles files{};
  std::map<std::string, std::string, std::less<>> contents{};

  [[nodiscard]] core::Result<Tokenizer> open() {
    LB_ASSIGN_OR_RETURN(const TokenizerClass* found, find_tokenizer_class(config, files.tokenizer_config));
    files.vocabulary = contents[std::string(found->vocabulary_file)];
    if (!found->merges_file.empty()) files.merges = contents[std::string(found->merges_file)];
    return Tokenizer::from_vocabulary_files(*found, files, "folder");
  }
};

Folder folder_of(const json& recorded) {
  Folder folder{.config = recorded["config"]};
  const auto object = [&recorded](const char* key) {
    return recorded.contains(key) ? std::optional(recorded[key]) : std::nullopt;
  };
  folder.files.tokenizer_config = object("tokenizer_config");
  folder.files.special_tokens_map = object("special_tokens_map");
  folder.files.added_tokens = object("added_tokens");
  for (const auto& [name, source] : recorded["files"].items())
    folder.contents[name] = data_file(source.get<std::string>());
  return folder;
}

std::vector<json> recorded_cases() {
  std::ifstream file(std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/tokenizer_folders/cases.jsonl");
  std::vector<json> cases;
  for (std::string line; std::getline(file, line);)
    cases.push_back(json::parse(line));
  return cases;
}

TEST(VocabularyFilesTest, GiveTheIdsOfTheReference) {
  const json texts = json::parse(data_file("lines.json"));
  std::size_t compared = 0;
  for (const json& recorded : recorded_cases()) {
    SCOPED_TRACE(recorded["name"].get<std::string>());
    const auto tokenizer = folder_of(recorded).open();
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    for (std::size_t i = 0; i < recorded["ids"].size(); ++i, ++compared) {
      const auto text = texts[i].get<std::string>();
      EXPECT_EQ(testing::ids_of(*tokenizer, text), recorded["ids"][i].get<std::vector<std::int32_t>>()) << text;
    }
  }
  EXPECT_GE(compared, 3500U);
}

}  // namespace
}  // namespace latebind::embedding
