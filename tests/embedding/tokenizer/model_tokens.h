// The tokens that a model makes of a word, with what holds for all of them checked.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding::testing {

// There is one, none ends before the one that stands before it, and the last one ends where the word does.
inline std::vector<Token> tokens_of(const TokenModel& model, std::string_view word) {
  std::vector<Token> tokens{{-7, 0}};
  model.tokenize(word, tokens);
  EXPECT_EQ(tokens.front().id, -7);
  tokens.erase(tokens.begin());
  EXPECT_FALSE(tokens.empty()) << word;
  std::size_t end = 0;
  for (const Token& token : tokens) {
    EXPECT_LE(end, token.end) << word;
    end = token.end;
    EXPECT_NE(model.vocabulary().token(token.id), std::nullopt) << word;
  }
  EXPECT_EQ(end, word.size()) << word;
  return tokens;
}

inline std::vector<std::int32_t> ids_of(const TokenModel& model, std::string_view word) {
  std::vector<std::int32_t> ids;
  for (const Token& token : tokens_of(model, word))
    ids.push_back(token.id);
  return ids;
}

inline std::vector<std::size_t> ends_of(const TokenModel& model, std::string_view word) {
  std::vector<std::size_t> ends;
  for (const Token& token : tokens_of(model, word))
    ends.push_back(token.end);
  return ends;
}

}  // namespace latebind::embedding::testing
