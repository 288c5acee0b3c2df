// A tokenizer.json of a few tokens, for tests to change, and short ways to open and use one.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding::testing {

inline nlohmann::json added_token(std::string_view content, int id) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

// Ids: 0 [PAD], 1 [UNK], 2 [CLS], 3 [SEP], then the words in this order.
inline nlohmann::json small_tokenizer(const std::vector<std::string>& words = {
                                          "un", "##aff", "##able", "hello", "world", "!", "a", "##b", "中", "cafe"}) {
  nlohmann::json vocab;
  int id = 0;
  for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"})
    vocab[special] = id++;
  for (const auto& word : words)
    vocab[word] = id++;
  const auto piece = [](const char* kind, const char* name) {
    return nlohmann::json{{kind, {{"id", name}, {"type_id", 0}}}};
  };
  const auto special = [](const char* name, int number) {
    return nlohmann::json{{"id", name}, {"ids", {number}}, {"tokens", {name}}};
  };
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens",
           {added_token("[PAD]", 0), added_token("[UNK]", 1), added_token("[CLS]", 2), added_token("[SEP]", 3)}},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", {piece("SpecialToken", "[CLS]"), piece("Sequence", "A"), piece("SpecialToken", "[SEP]")}},
            {"pair", nlohmann::json::array()},
            {"special_tokens", {{"[CLS]", special("[CLS]", 2)}, {"[SEP]", special("[SEP]", 3)}}}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocab}}}};
}

inline core::Result<Tokenizer> open(const nlohmann::json& file) {
  return Tokenizer::from_json(file.dump(), "tokenizer.json");
}

inline std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, std::string_view text,
                                        std::size_t max_tokens = std::numeric_limits<std::size_t>::max()) {
  std::vector<std::int32_t> ids;
  const core::Status status = tokenizer.encode(text, max_tokens, ids);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return ids;
}

inline std::vector<std::int32_t> ids_of(const nlohmann::json& file, std::string_view text) {
  auto tokenizer = open(file);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  return tokenizer.ok() ? ids_of(*tokenizer, text) : std::vector<std::int32_t>{};
}

}  // namespace latebind::embedding::testing
