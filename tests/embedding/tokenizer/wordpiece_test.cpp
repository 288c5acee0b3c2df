#include "embedding/tokenizer/models/wordpiece.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "model_tokens.h"
#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

using ::testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

core::Result<std::unique_ptr<const WordPiece>> make(const std::vector<std::string>& tokens,
                                                    const std::string& prefix = "##") {
  Vocabulary vocabulary;
  std::uint64_t id = 0;
  for (const auto& token : tokens) {
    if (auto status = vocabulary.add(token, id++); !status.ok()) return status;
  }
  if (auto status = vocabulary.finish_steps(); !status.ok()) return status;
  return WordPiece::create(std::move(vocabulary), {"?", prefix, 100});
}

Ids ids_of(const core::Result<std::unique_ptr<const WordPiece>>& wordpiece, std::string_view word) {
  EXPECT_TRUE(wordpiece.ok()) << wordpiece.status().to_string();
  Ids ids{-7};
  (*wordpiece)->append_ids(word, ids);
  EXPECT_EQ(ids.front(), -7);
  ids.erase(ids.begin());
  EXPECT_EQ(testing::ids_of(**wordpiece, word), ids);
  return ids;
}

TEST(WordPieceTest, TakesTheLongestTokenFromTheLeft) {
  const auto wordpiece = make({"?", "un", "##aff", "##able", "una", "##ffable", "##b"});
  EXPECT_EQ(ids_of(wordpiece, "unaffable"), (Ids{4, 5}));
  EXPECT_EQ(ids_of(wordpiece, "un"), (Ids{1}));
  EXPECT_EQ(ids_of(wordpiece, "unb"), (Ids{1, 6}));
}

TEST(WordPieceTest, IsUnknownWholeWhenAPartIs) {
  const auto wordpiece = make({"?", "un", "##b", "able"});
  EXPECT_EQ(ids_of(wordpiece, "unx"), (Ids{0}));
  EXPECT_EQ(ids_of(wordpiece, "unable"), (Ids{0}));  // "able" only begins words
  EXPECT_EQ(ids_of(wordpiece, "b"), (Ids{0}));       // "##b" never does
  EXPECT_EQ(ids_of(wordpiece, "##b"), (Ids{2}));     // unless it is written out
}

TEST(WordPieceTest, NeverCutsACodePoint) {
  const auto wordpiece = make({"?", "é", "##é", "中", "##中"});
  EXPECT_EQ(ids_of(wordpiece, "éé中"), (Ids{1, 2, 4}));
  EXPECT_EQ(ids_of(wordpiece, "é文"), (Ids{0}));
}

TEST(WordPieceTest, SaysWhereTokensEnd) {
  const auto wordpiece = make({"?", "un", "##aff", "##é"});
  EXPECT_EQ(testing::ends_of(**wordpiece, "unaffé"), (std::vector<std::size_t>{2, 5, 7}));
  EXPECT_EQ(testing::ends_of(**wordpiece, "unaffx"), (std::vector<std::size_t>{6}));
}

TEST(WordPieceTest, CountsCodePointsOfLongWords) {
  const auto wordpiece = make({"?", "é", "##é", "a", "##a"});
  const auto ids = [&](std::string_view letter, int count) {
    std::string word;
    for (int i = 0; i < count; ++i)
      word += letter;
    return testing::ids_of(**wordpiece, word).size();
  };
  EXPECT_EQ(ids("é", 100), 100U);
  EXPECT_EQ(ids("é", 101), 1U);
  EXPECT_EQ(ids("a", 100), 100U);
  EXPECT_EQ(ids("a", 101), 1U);
}

TEST(WordPieceTest, TakesAnyPrefix) {
  EXPECT_EQ(ids_of(make({"?", "a", "b", "ab"}, ""), "aba"), (Ids{3, 1}));
  EXPECT_EQ(ids_of(make({"?", "a", "@@b", "@@"}, "@@"), "ab"), (Ids{1, 2}));
  EXPECT_EQ(ids_of(make({"?", "a"}, "##"), "aa"), (Ids{0}));
}

TEST(WordPieceTest, TakesLongTokensThatAreInNoWord) {
  const std::string longest(65'536, 'a');
  EXPECT_EQ(ids_of(make({"?", "a", "##a", longest, "##" + longest.substr(2)}), "aa"), (Ids{1, 2}));
  nlohmann::json file = testing::small_tokenizer({"a", "##a", longest});
  EXPECT_EQ(testing::ids_of(file, "aa " + longest), (Ids{2, 4, 5, 1, 3}));
  const auto expect = [&](int chars, bool is_taken) {
    file["model"]["max_input_chars_per_word"] = chars;
    const auto tokenizer = testing::open(file);
    EXPECT_EQ(tokenizer.ok(), is_taken) << chars;
    if (tokenizer.ok()) return;
    EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(fmt::format("a token is {} bytes long, more than the 512 "
                                                                      "supported if "
                                                                      "model.max_input_chars_per_word is {}",
                                                                      chars * 4, chars)));
  };
  expect(128, true);
  expect(129, false);
  expect(10'000, false);
}

TEST(WordPieceTest, NeedsTheUnknownToken) {
  const auto wordpiece = make({"a"});
  ASSERT_FALSE(wordpiece.ok());
  EXPECT_THAT(wordpiece.status().to_string(), HasSubstr("unk_token '?' is not in the vocabulary"));
}

TEST(VocabularyTest, RefusesWhatOccursTwice) {
  EXPECT_THAT(make({"?", "a", "b", "a"}).status().to_string(), HasSubstr("the token 'a' occurs twice"));
  Vocabulary vocabulary;
  ASSERT_TRUE(vocabulary.add("a", 5).ok());
  ASSERT_TRUE(vocabulary.add("b\n", 5).ok());
  EXPECT_EQ(vocabulary.finish().to_string(), "tokens 'a' and 'b\\x0a' have the same id 5");
  Vocabulary same;
  ASSERT_TRUE(same.add("a", 5).ok());
  ASSERT_TRUE(same.add("a", 5).ok());
  EXPECT_EQ(same.finish().to_string(), "the token 'a' occurs twice");
}

TEST(VocabularyTest, AllowsGapsBelowTheLimit) {
  Vocabulary vocabulary;
  ASSERT_TRUE(vocabulary.add("a", 7).ok());
  ASSERT_TRUE(vocabulary.add("", Vocabulary::kIdEnd - 1).ok());
  ASSERT_TRUE(vocabulary.finish().ok());
  EXPECT_EQ(vocabulary.size(), 2U);
  EXPECT_EQ(vocabulary.id_end(), Vocabulary::kIdEnd);
  EXPECT_EQ(vocabulary.find("a"), 7);
  EXPECT_EQ(vocabulary.find(""), static_cast<std::int32_t>(Vocabulary::kIdEnd - 1));
  EXPECT_EQ(vocabulary.find("b"), std::nullopt);
}

TEST(VocabularyTest, GivesTheTokenOfAnId) {
  Vocabulary vocabulary;
  ASSERT_TRUE(vocabulary.add("late", 9).ok());
  ASSERT_TRUE(vocabulary.add("first", 0).ok());
  ASSERT_TRUE(vocabulary.add("", 4).ok());
  ASSERT_TRUE(vocabulary.finish().ok());
  EXPECT_EQ(vocabulary.token(0), "first");
  EXPECT_EQ(vocabulary.token(4), "");
  EXPECT_EQ(vocabulary.token(9), "late");
  for (const std::int32_t without : {-1, 1, 5, 10, std::numeric_limits<std::int32_t>::max()})
    EXPECT_EQ(vocabulary.token(without), std::nullopt) << without;
  EXPECT_EQ(vocabulary.find("late"), 9);
}

TEST(VocabularyTest, HasLimits) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.add("a", Vocabulary::kIdEnd).code(), core::StatusCode::kInvalidModel);
  EXPECT_EQ(vocabulary.add(std::string(Vocabulary::kTokenBytesMax + 1, 'a'), 0).code(), core::StatusCode::kUnsupported);
  const std::string longest(Vocabulary::kTokenBytesMax, 'a');
  EXPECT_TRUE(vocabulary.add(longest, 0).ok());
  EXPECT_TRUE(vocabulary.add("a", 1).ok());
  ASSERT_TRUE(vocabulary.finish().ok());
  EXPECT_EQ(vocabulary.find(longest), 0);
  EXPECT_EQ(vocabulary.find(longest.substr(1)), std::nullopt);
  EXPECT_EQ(vocabulary.token(0), longest);
}

TEST(VocabularyTest, FindsEveryOneOfManyTokens) {
  Vocabulary vocabulary;
  for (std::uint64_t i = 0; i < 200'000; ++i)
    ASSERT_TRUE(vocabulary.add(std::to_string(i * 7919), i).ok());
  ASSERT_TRUE(vocabulary.finish().ok());
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    ASSERT_EQ(vocabulary.find(std::to_string(i * 7919)), static_cast<std::int32_t>(i));
    ASSERT_EQ(vocabulary.find(std::to_string(i * 7919) + "x"), std::nullopt);
  }
}

TEST(VocabularyTest, FindsTokensOfEveryLengthByWordsAndBySteps) {
  // Neighbours differ in one byte, wherever it is.
  std::vector<std::string> tokens;
  for (std::size_t size = 1; size <= 40; ++size) {
    for (std::size_t changed = 0; changed < size; ++changed) {
      tokens.emplace_back(size, 'a');
      tokens.back()[changed] = 'b';
    }
  }
  for (const bool has_steps : {false, true}) {
    Vocabulary vocabulary;
    for (std::size_t id = 0; id < tokens.size(); ++id)
      ASSERT_TRUE(vocabulary.add(tokens[id], id).ok());
    ASSERT_TRUE(vocabulary.finish().ok());
    // As where the list was finished before it was known whose it is.
    if (has_steps) {
      ASSERT_TRUE(vocabulary.finish_steps().ok());
    }
    const std::vector<std::string_view> wanted(tokens.begin(), tokens.end());
    std::vector<std::int32_t> ids(wanted.size());
    vocabulary.find_all(wanted, ids);
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      ASSERT_EQ(vocabulary.find(tokens[id]), static_cast<std::int32_t>(id)) << tokens[id] << has_steps;
      ASSERT_EQ(ids[id], static_cast<std::int32_t>(id)) << tokens[id] << has_steps;
      ASSERT_EQ(vocabulary.find(std::string(tokens[id].size(), 'a')), std::nullopt);
    }
  }
}

TEST(VocabularyTest, FindsNothingWhenEmpty) {
  Vocabulary vocabulary;
  ASSERT_TRUE(vocabulary.finish().ok());
  EXPECT_EQ(vocabulary.find("a"), std::nullopt);
  EXPECT_EQ(vocabulary.find(""), std::nullopt);
  EXPECT_EQ(vocabulary.token(0), std::nullopt);
}

}  // namespace
}  // namespace latebind::embedding
