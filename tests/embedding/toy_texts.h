// Texts for the toy tokenizer, and what their vectors must be.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/embedding/toy_encoder.h"

namespace latebind::test {

// Texts of 0 to 29 words, no two neighbours equally long.
inline std::string mixed_text(std::size_t i) {
  std::string text;
  for (std::size_t word = 0; word < i * 7 % 30; ++word) {
    text += text.empty() ? "" : " ";
    text += word % 3 == i % 3 ? "word" : std::string(1, static_cast<char>('a' + (i + word) % 26));
  }
  return text;
}

inline std::vector<std::string> mixed_texts(std::size_t count) {
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i)
    texts[i] = mixed_text(i);
  return texts;
}

inline std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// The vector of `ids` is what a toy embedder must give.
inline void expect_toy_vector(std::span<const std::int32_t> ids, std::span<const float> vector) {
  const auto expected = toy_vector({ids.begin(), ids.end()}, vector.size());
  for (std::size_t d = 0; d < vector.size(); ++d)
    ASSERT_NEAR(vector[d], expected[d], 1e-5) << "of " << ids.size() << " tokens";
}

inline void expect_vectors_of(std::span<const std::string> texts, std::span<const float> vectors,
                              std::size_t max_tokens = 32) {
  static const auto tokenizer = toy_tokenizer();
  ASSERT_EQ(vectors.size(), texts.size() * kToyDimension);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::int32_t> ids;
    ASSERT_TRUE(tokenizer.encode(texts[i], max_tokens, ids).ok());
    expect_toy_vector(ids, vectors.subspan(i * kToyDimension, kToyDimension));
  }
}

}  // namespace latebind::test
