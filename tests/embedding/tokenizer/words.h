// The words that a pre-tokenizer gives, with what holds for all of them checked.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embedding/tokenizer/pre_tokenizer.h"

namespace latebind::embedding::testing {

class WordFunction final : public WordSink {
 public:
  explicit WordFunction(std::function<bool(const Word&)> function) : function_(std::move(function)) {}
  bool word(const Word& word) override { return function_(word); }

 private:
  std::function<bool(const Word&)> function_;
};

// No word is empty, none overlaps another, and each that is cut out of the text is what stands at its place.
inline std::vector<std::string> words_of(const PreTokenizer& pre_tokenizer, std::string_view text) {
  std::vector<std::string> words;
  std::size_t end = 0;
  WordFunction sink([&](const Word& word) {
    EXPECT_FALSE(word.text.empty());
    EXPECT_LE(end, word.begin);
    EXPECT_LT(word.begin, word.end);
    EXPECT_LE(word.end, text.size());
    EXPECT_EQ(text.substr(word.begin, word.end - word.begin), word.text);
    end = word.end;
    words.emplace_back(word.text);
    return true;
  });
  EXPECT_TRUE(pre_tokenizer.split(text, sink));
  return words;
}

}  // namespace latebind::embedding::testing
