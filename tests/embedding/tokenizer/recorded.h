// The texts and ids that the reference gave (recorded by compare_with_oracle.py) for the real model's tokenizer.json.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/json.h"

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

inline std::vector<RecordedText> recorded_texts() {
  std::ifstream file(std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/tokenizer/all-MiniLM-L6-v2.jsonl");
  EXPECT_TRUE(file.is_open());
  std::vector<RecordedText> texts;
  for (std::string line; std::getline(file, line);) {
    const auto entry = nlohmann::json::parse(line);
    texts.push_back({entry["text"].get<std::string>(), entry["ids"].get<std::vector<std::int32_t>>()});
  }
  return texts;
}

}  // namespace latebind::embedding::testing
