// Lists of words as tokenizers, against sentence-transformers' WhitespaceTokenizer (tests/data/words/make.py).
#include "embedding/tokenizer/word_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "embedding/tokenizer/python_text.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string read_recorded_words(const std::string& name) {
  std::ifstream in(std::string(LATEBIND_SOURCE_DIR) + "/tests/data/words/" + name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::int32_t> word_ids_of(const std::string& list, std::string_view text, std::size_t most = 1000) {
  const auto tokenizer = Tokenizer::from_word_list(list, "words");
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  std::vector<std::int32_t> ids;
  if (!tokenizer.ok()) return ids;
  EXPECT_TRUE(tokenizer->encode(text, most, ids).ok());
  return ids;
}

std::string refusal_of_list(const std::string& list) {
  const auto tokenizer = Tokenizer::from_word_list(list, "words.json");
  return tokenizer.ok() ? "it was taken" : tokenizer.status().to_string();
}

TEST(WordListTest, GivesTheReferencesIds) {
  const json expected = json::parse(read_recorded_words("expected.json"));
  const std::pair<const char*, const char*> files[] = {
      {"glove", "glove/0_WordEmbeddings/whitespacetokenizer_config.json"},
      {"lower", "lower/whitespacetokenizer_config.json"}};
  for (const auto& [name, file] : files) {
    const std::string list = read_recorded_words(file);
    const json& wanted = expected[name]["ids"];
    ASSERT_EQ(wanted.size(), expected["texts"].size());
    const std::size_t most = std::string_view(name) == "lower" ? 5 : 1000;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto text = expected["texts"][i].get<std::string>();
      EXPECT_EQ(word_ids_of(list, text, most), wanted[i].get<std::vector<std::int32_t>>()) << name << " " << text;
    }
  }
}

TEST(WordListTest, TriesTheFormsOfAWordInTheirOrder) {
  const std::string list =
      R"({"vocab": ["PAD", "Cat!", "Cat", "cat", "DOG", "the"], "stop_words": ["a", "the", "Of"]})";
  EXPECT_THAT(word_ids_of(list, "Cat! Cat? (Cat) CAT"), ElementsAre(1, 2, 2, 3));
  EXPECT_THAT(word_ids_of(list, "DOG dog !DOG!"), ElementsAre(4, 4));
  EXPECT_THAT(word_ids_of(list, "the The 'a' Of of (Of) bird ..."), IsEmpty());
  EXPECT_THAT(word_ids_of(list, "PAD"), ElementsAre(0));
  EXPECT_THAT(word_ids_of(list, "cat cat cat", 2), ElementsAre(3, 3));
}

// The text without any character is a word like others, and is looked up last.
TEST(WordListTest, TheEmptyWordIsFoundInLowerCaseAlone) {
  EXPECT_THAT(word_ids_of(R"({"vocab": ["a", ""], "stop_words": []})", "!! a"), ElementsAre(1, 0));
  EXPECT_THAT(word_ids_of(R"({"vocab": ["a", ""], "stop_words": [""]})", "!! a"), ElementsAre(0));
}

TEST(WordListTest, EscapedWordsAreRead) {
  const std::string list =
      R"({"do_lower_case": true, "stop_words": ["\u00e4"], "vocab": ["\u00e9\u2019", "\ud83d\ude00"]})";
  EXPECT_THAT(word_ids_of(list, "\u00c9\u2019 \U0001F600 \u00c4"), ElementsAre(0, 1));
}

TEST(WordListTest, OtherFilesAreRefusedByName) {
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a"]})"), HasSubstr("words.json: 'stop_words' is missing"));
  EXPECT_THAT(refusal_of_list(R"({"stop_words": []})"), HasSubstr("'vocab' is missing or empty"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": [], "stop_words": []})"), HasSubstr("'vocab' is missing or empty"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a", "b", "a"], "stop_words": []})"), HasSubstr("'a' occurs twice"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a", 7], "stop_words": []})"), HasSubstr("'vocab' is not a list of texts"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": {"a": 0}, "stop_words": []})"), HasSubstr("'vocab' is not a list of texts"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a"], "stop_words": null})"),
              HasSubstr("'stop_words' is not a list of texts"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a"], "stop_words": [], "do_lower_case": 1})"),
              HasSubstr("'do_lower_case' is neither true nor false"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a"], "stop_words": [], "ngram_separator": "_"})"),
              HasSubstr("the key 'ngram_separator' is not supported"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a"], "stop_words": [], "vocab": ["b"]})"),
              HasSubstr("'vocab' occurs twice"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a"], "stop_words": [] )"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["a"], "stop_words": []} x)"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of_list("{\"vocab\": [\"\xff\"], \"stop_words\": []}"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of_list(R"({"vocab": ["\ud800"], "stop_words": []})"), HasSubstr("surrogate"));
  EXPECT_THAT(refusal_of_list("[]"), HasSubstr("not a JSON object"));
}

TEST(WordListTest, HasNoOffsetsAndSaysSo) {
  const auto tokenizer = Tokenizer::from_word_list(R"({"vocab": ["a"], "stop_words": []})", "words");
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(tokenizer->gives_offsets().to_string(), HasSubstr("list of words"));
  EXPECT_EQ(tokenizer->vocabulary_size(), 1U);
  EXPECT_EQ(tokenizer->token(0), "a");
}

// The sigma at the end of a word, Unicode 15, table 3-17.
TEST(PythonTextTest, CapitalSigmaDependsOnItsNeighbours) {
  EXPECT_EQ(python_lower("ΟΔΟΣ ΣΑΣ Σ ΑΣ'Α ΑΣ'"), "οδος σας σ ασ'α ας'");
  EXPECT_EQ(python_lower("A\u0301Σ\u0301 1Σ ⅠΣ ⒶΣ ªΣ"), "a\u0301ς\u0301 1σ ⅰς ⓐς ªς");
  EXPECT_EQ(python_lower("İ ẞ"), "i\u0307 ß");
}

}  // namespace
}  // namespace latebind::embedding
