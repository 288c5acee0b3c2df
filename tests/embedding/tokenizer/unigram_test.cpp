// The model Unigram.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "embedding/tokenizer/part_table.h"
#include "model_tokens.h"
#include "small_tokenizer.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
using Entries = std::vector<std::pair<std::string, double>>;

// Ids of the tokens in their order, behind the unknown one; no special tokens.
Json unigram(const Entries& entries, const Json& options = Json::object(), double unknown_score = 0.0) {
  Json vocab = Json::array({Json::array({"<unk>", unknown_score})});
  for (const auto& [token, score] : entries)
    vocab.push_back(Json::array({token, score}));
  Json model = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocab}};
  model.update(options);
  return {{"version", "1.0"}, {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}, {"model", model}};
}

void expect_unigram_refused(const Json& file, StatusCode code, const std::string& part) {
  const auto tokenizer = testing::open(file);
  ASSERT_FALSE(tokenizer.ok()) << "not refused, though expected: " << part;
  EXPECT_EQ(tokenizer.status().code(), code) << tokenizer.status().to_string();
  EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(part));
}

TEST(UnigramTest, TakesTheTokensWhoseScoresAddUpToTheMost) {
  const Json file = unigram({{"a", -1}, {"b", -1}, {"ab", -1.5}, {"abc", -9}, {"c", -2}, {"bc", -2.25}});
  EXPECT_EQ(testing::ids_of(file, "ab"), (Ids{3}));
  EXPECT_EQ(testing::ids_of(file, "abc"), (Ids{1, 6}));
  EXPECT_EQ(testing::ids_of(file, "abcab ba"), (Ids{1, 6, 3, 2, 1}));
}

TEST(UnigramTest, KeepsTheFirstOfEqualWays) {
  // The one whose last token begins first.
  EXPECT_EQ(testing::ids_of(unigram({{"a", -1}, {"b", -1}, {"ab", -2}}), "ab"), (Ids{3}));
  EXPECT_EQ(testing::ids_of(unigram({{"a", -1}, {"aa", -1}, {"aaa", -9}}), "aaa"), (Ids{1, 2}));
}

TEST(UnigramTest, AddsUpScoresFromTheBeginningOfTheWord) {
  // 0.1 + 0.2 is more than 0.3.
  const Json file = unigram({{"a", 0.1}, {"b", 0.2}, {"ab", 0.3}});
  EXPECT_EQ(testing::ids_of(file, "ab"), (Ids{1, 2}));
  const Entries behind = {{"x", 1e17}, {"a", 1}, {"b", 1}, {"ab", 1.5}};
  EXPECT_EQ(testing::ids_of(unigram(behind), "ab"), (Ids{2, 3}));
  EXPECT_EQ(testing::ids_of(unigram(behind), "xab"), (Ids{1, 4}));
}

TEST(UnigramTest, MakesOneTokenOfUnknownNeighbours) {
  const Json file = unigram({{"a", -1}, {"b", -2}});
  EXPECT_EQ(testing::ids_of(file, "a☃é中b☃"), (Ids{1, 0, 2, 0}));
  EXPECT_EQ(testing::ids_of(file, "☃<unk>☃ <unk>a"), (Ids{0, 0, 1}));
}

TEST(UnigramTest, GivesUnknownCharactersTenLessThanTheLeastScore) {
  // The least is 25: an unknown character has 15, and with y, 41.
  EXPECT_EQ(testing::ids_of(unigram({{"xy", 40.5}, {"y", 26}, {"q", 25}}, Json::object(), 25), "xy"), (Ids{0, 2}));
  EXPECT_EQ(testing::ids_of(unigram({{"xy", 41.5}, {"y", 26}, {"q", 25}}, Json::object(), 25), "xy"), (Ids{1}));
}

TEST(UnigramTest, FindsAnUnknownTextThatIsATokenAfterAll) {
  // As two unknown characters it is worth more than as a token.
  const Json file = unigram({{"xy", 30}, {"a", 30.5}}, Json::object(), 30);
  EXPECT_EQ(testing::ids_of(file, "xya"), (Ids{1, 2}));
}

TEST(UnigramTest, WritesUnknownCharactersAsBytes) {
  Entries entries = {{"a", -1}};
  for (const char* byte : {"<0xC3>", "<0xA9>", "<0xE2>", "<0x98>"})
    entries.emplace_back(byte, -5);
  const Json file = unigram(entries, {{"byte_fallback", true}});
  EXPECT_EQ(testing::ids_of(file, "aéa"), (Ids{1, 2, 3, 1}));
  EXPECT_EQ(testing::ids_of(file, "éé"), (Ids{2, 3, 2, 3}));
  EXPECT_EQ(testing::ids_of(file, "é☃"), (Ids{0})) << "one byte of them all has no token";
  EXPECT_EQ(testing::ids_of(unigram(entries), "aéa"), (Ids{1, 0, 1}));
}

TEST(UnigramTest, SaysWhereTokensEnd) {
  const auto ends_of = [](const Json& file, std::string_view word) {
    ModelLists lists;
    lists.scores.emplace();
    for (const auto& entry : file["model"]["vocab"]) {
      EXPECT_TRUE(lists.vocabulary.add(entry[0].get<std::string>(), lists.scores->size()).ok());
      lists.scores->push_back(entry[1].get<double>());
    }
    Json model = Json::parse(file["model"].dump());  // numbers as a parser makes them
    model["vocab"] = true;
    const auto read = read_unigram(*JsonView::object(json_of(model), "model"), std::move(lists));
    EXPECT_TRUE(read.ok()) << read.status().to_string();
    return read.ok() ? testing::ends_of(**read, word) : std::vector<std::size_t>();
  };
  const Entries entries = {{"ab", -1}, {"é", -1}, {"<0xE4>", -5}, {"<0xB8>", -5}, {"<0xAD>", -5}};
  EXPECT_EQ(ends_of(unigram(entries), "ab☃中éab"), (std::vector<std::size_t>{2, 8, 10, 12}));
  EXPECT_EQ(ends_of(unigram(entries, {{"byte_fallback", true}}), "ab中é"), (std::vector<std::size_t>{2, 5, 5, 5, 7}));
}

TEST(UnigramTest, GivesTheSameForLongWordsAsForTheirParts) {
  // Longer than what is decided at once, with and without places that no token passes over.
  const Json file = unigram({{"a", -1}, {"ab", -1.75}, {"b", -1}, {"ba", -1.5}, {"c", -3}});
  std::string parted;
  Ids expected;
  for (int i = 0; i < 500; ++i) {
    parted += "bac☃";
    expected.insert(expected.end(), {4, 5, 0});
  }
  EXPECT_EQ(testing::ids_of(file, parted), expected);
  std::string woven;
  for (int i = 0; i < 500; ++i)
    woven += "ba";
  EXPECT_EQ(testing::ids_of(file, woven), Ids(500, 4));
  EXPECT_EQ(testing::ids_of(file, std::string(5000, 'x')), (Ids{0}));
}

TEST(UnigramTest, TakesTimeInProportionToTheWord) {
  Entries entries;
  for (std::size_t size = 1; size <= 16; ++size)
    entries.emplace_back(std::string(size, 'a'), -1.0);
  const auto tokenizer = testing::open(unigram(entries));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  const auto seconds = [&](std::size_t size) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(testing::ids_of(*tokenizer, std::string(size, 'a')).size(), size / 16);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double one = std::min(seconds(1 << 16), seconds(1 << 16));
  EXPECT_LT(seconds(1 << 20), one * 16 * 8);
}

TEST(UnigramTest, ReadsEveryFormOfItsVocabulary) {
  const auto ids = [](const std::string& vocab, std::string_view text) {
    const auto tokenizer = Tokenizer::from_json(
        R"({"pre_tokenizer":null,"model":{"unk_id":0,"vocab":)" + vocab + R"(,"byte_fallback":false}})", "file");
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    return tokenizer.ok() ? testing::ids_of(*tokenizer, text) : Ids{};
  };
  EXPECT_EQ(ids(R"([["?",0],["a",-1],["b",-1.5e0],["ab",-2]])", "abba"), (Ids{3, 2, 1}));
  EXPECT_EQ(
      ids("[ [\n\"?\" , 0 ]\t,\r\n[ \"a\",-1 ] , [\"\\u0062\" , -1.5], [\"a\\\"b\", 3 ],[\"b\\\\\",1] ]", "a\"bbb\\"),
      (Ids{3, 2, 4}));
  EXPECT_EQ(ids(R"([["?",0],["▁",-1],["▁é",-1],["😀",-1],["",5]])", "▁▁é😀"), (Ids{1, 2, 3}));
}

TEST(UnigramTest, RefusesWhatIsNoVocabularyWithScores) {
  const auto refused = [](const std::string& vocab, const std::string& part) {
    const auto tokenizer =
        Tokenizer::from_json(R"({"model":{"type":"Unigram","unk_id":0,"vocab":)" + vocab + "}}", "file");
    ASSERT_FALSE(tokenizer.ok()) << vocab;
    EXPECT_EQ(tokenizer.status().code(), StatusCode::kInvalidModel);
    EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(part));
  };
  for (const char* entry : {R"(["b"])", "[]", R"(["b",-1,2])", R"([1,"b"])", R"(["b","c"])", R"(["b",null])",
                            R"(["b",[1]])", "1", "\"b\"", "null", "{}", R"({"b":1})", "true"}) {
    refused(R"([["a",0],)" + std::string(entry) + "]", "model.vocab: entry 1 is not a token and its score");
    refused(R"([["a",0],["c",0],["d",-1],)" + std::string(entry) + "]",
            "model.vocab: entry 3 is not a token and its score");
  }
  refused(R"([["a",0],["b",1e999]])", "not JSON: 'model");
  refused(R"([["a",0],["b",01]])", "not JSON: 'model.vocab[1][1]' has a number that begins with a zero at byte 60");
  refused(R"([["a",0],["c",0],["b",01]])",
          "not JSON: 'model.vocab[2][1]' has a number that begins with a zero at byte 68");
  refused("[[\"a\",0],[\"c\",0],[\"\xFF\",0]]", "not JSON: 'model");
  refused("[[\"a\",0],[\"c\",0],[\"\n\",0]]", "not JSON: 'model");
  refused(R"([["a",0],["c",0],["b",0],])", "not JSON: 'model");
  refused(R"([["a",0],["c",0],["b",0])", "not JSON: 'model");
  refused(R"([["a",0],["b",-1],["a",-2]])", "model.vocab: the token 'a' occurs twice");
  refused(R"([["longerthaneight",0],["b",-1],["longerthaneight",-2]])", "the token 'longerthaneight' occurs twice");
  refused("[]", "model.vocab is empty");
  refused("true", "model has no 'vocab' (an array of tokens and scores)");
}

TEST(UnigramTest, RefusesWhatItCouldOnlyApproximate) {
  const auto with = [](const char* key, const Json& value) { return unigram({{"a", -1}}, {{key, value}}); };
  expect_unigram_refused(with("unk_id", nullptr), StatusCode::kUnsupported, "a model without unk_id is not supported");
  expect_unigram_refused(with("unk_id", 2), StatusCode::kInvalidModel, "model.unk_id is 2, but there are 2 tokens");
  expect_unigram_refused(with("unk_id", -1), StatusCode::kInvalidModel, "model.unk_id is not a whole number from 0");
  expect_unigram_refused(with("byte_fallback", nullptr), StatusCode::kInvalidModel,
                         "model.byte_fallback is not true or false");
  expect_unigram_refused(with("alpha", 0.1), StatusCode::kUnsupported, "model has the key 'alpha'");
  expect_unigram_refused(unigram({{std::string(65'537, 'x'), -1}}), StatusCode::kUnsupported, "65537 bytes long");
}

TEST(UnigramTest, TellsAllTokensOfATextApart) {
  // Nodes with few children and with many, tokens within tokens, and long ones that differ late.
  Vocabulary vocabulary;
  std::vector<std::string> tokens = {
      "", "a", "ab", "abcdefghij", "abcdefghijk", "abcdefghijl", "abcdefghi", std::string(512, 'q')};
  for (char c = '!'; c <= '~'; ++c)
    tokens.push_back(std::string("x") + c);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    ASSERT_TRUE(vocabulary.add(tokens[i], i).ok());
  ASSERT_TRUE(vocabulary.finish_trie().ok());
  for (std::size_t i = 1; i < tokens.size(); ++i)
    EXPECT_EQ(vocabulary.find(tokens[i]), static_cast<std::int32_t>(i)) << tokens[i];
  for (const char* other : {"", "b", "abc", "abcdefghijm", "x", "xaa", "q"})
    EXPECT_EQ(vocabulary.find(other), std::nullopt) << other;
  std::vector<std::pair<std::int32_t, std::size_t>> found;
  vocabulary.for_each_prefix("abcdefghijkl", [&](std::int32_t id, std::size_t size) { found.emplace_back(id, size); });
  const std::vector<std::pair<std::int32_t, std::size_t>> expected = {{1, 1}, {2, 2}, {6, 9}, {3, 10}, {4, 11}};
  EXPECT_EQ(found, expected);
}

// Each byte that tokens share is a step at every place of a text; what one alone has is compared at once.
TEST(UnigramTest, LongTokensDifferInTheirFirstBytes) {
  const std::string same(511, 'q');
  const std::string longest = same + std::string(65'536 - 511, 'a');
  const Json file = unigram({{"q", -1}, {"a", -1}, {longest, -1}, {same, -1}, {same + "b" + same, -1}});
  EXPECT_EQ(testing::ids_of(file, longest), (Ids{3}));
  EXPECT_EQ(testing::ids_of(file, longest + same), (Ids{3, 4}));
  EXPECT_EQ(testing::ids_of(file, same + "b" + same), (Ids{5}));
  EXPECT_EQ(testing::ids_of(file, same + "a"), (Ids{4, 2}));
  const std::string too_much = "the first 512 bytes of two tokens are the same";
  expect_unigram_refused(unigram({{same + "qa", -1}, {same + "qb", -1}}), StatusCode::kUnsupported, too_much);
  expect_unigram_refused(unigram({{same + "q", -1}, {longest + "b", -1}, {same + "qb", -1}}), StatusCode::kUnsupported,
                         "65537 bytes long");
  expect_unigram_refused(unigram({{same + "q", -1}, {same + "qb", -1}}), StatusCode::kUnsupported, too_much);
}

// Large enough that another thread takes those with the greater first bytes.
TEST(UnigramTest, TellsAllTokensOfALargeVocabularyApart) {
  std::vector<std::string> tokens;
  for (const char* first : {"a", "b", "\x7F", "é", "▁", "▁x", "中", "😀"}) {
    for (int i = 0; i < 4000; ++i)
      tokens.push_back(fmt::format("{}{}", first, i));
  }
  const auto add = [&tokens](Vocabulary& vocabulary) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      ASSERT_TRUE(vocabulary.add(tokens[i], i).ok());
  };
  Vocabulary vocabulary;
  add(vocabulary);
  ASSERT_TRUE(vocabulary.finish_trie().ok());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    ASSERT_EQ(vocabulary.find(tokens[i]), static_cast<std::int32_t>(i)) << tokens[i];
    ASSERT_EQ(vocabulary.find(tokens[i] + "x"), std::nullopt) << tokens[i];
  }
  for (const char* first : {"a", "▁", "😀"}) {
    tokens.push_back(fmt::format("{}17", first));
    Vocabulary with_twin;
    add(with_twin);
    EXPECT_THAT(with_twin.finish_trie().to_string(), HasSubstr(tokens.back() + "' occurs twice"));
    tokens.pop_back();
  }
}

}  // namespace
}  // namespace latebind::embedding
