// The texts and ids that the reference gave (recorded by compare_with_oracle.py) for the real model's tokenizer.json,
// and for that of a small Unigram model.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace latebind::embedding::testing {

struct RecordedText {
  std::string text;
  std::vector<std::int32_t> ids;
};

inline std::filesystem::path model_tokenizer_file() {
  return std::filesystem::path(LATEBIND_SOURCE_DIR) / "build/runtime/model/all-MiniLM-L6-v2/tokenizer.json";
}

inline std::string model_tokenizer_json() {
  std::ifstream file(model_tokenizer_file());
  EXPECT_TRUE(file.is_open()) << model_tokenizer_file() << " is missing: run scripts/setup";
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::filesystem::path recorded_file(const char* name) {
  return std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/tokenizer" / name;
}

inline std::vector<RecordedText> recorded_texts(const char* name = "all-MiniLM-L6-v2.jsonl") {
  std::ifstream file(recorded_file(name));
  EXPECT_TRUE(file.is_open());
  std::vector<RecordedText> texts;
  for (std::string line; std::getline(file, line);) {
    const auto entry = nlohmann::json::parse(line);
    texts.push_back({entry["text"].get<std::string>(), entry["ids"].get<std::vector<std::int32_t>>()});
  }
  return texts;
}

}  // namespace latebind::embedding::testing
