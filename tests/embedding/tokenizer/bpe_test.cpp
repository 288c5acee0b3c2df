// The model BPE.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "model_tokens.h"
#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

// Ids of the words in their order; no special tokens.
Json bpe(const std::vector<std::string>& words, const Json& merges, const Json& options = Json::object()) {
  Json vocab;
  int id = 0;
  for (const auto& word : words)
    vocab[word] = id++;
  Json model = {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}};
  model.update(options);
  return {{"version", "1.0"}, {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}, {"model", model}};
}

void expect_bpe_refused(const Json& file, StatusCode code, const std::string& part) {
  const auto tokenizer = testing::open(file);
  ASSERT_FALSE(tokenizer.ok()) << "not refused, though expected: " << part;
  EXPECT_EQ(tokenizer.status().code(), code) << tokenizer.status().to_string();
  EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(part));
}

TEST(BpeTest, MergesTheLowestRankFirstAndTheLeftmostOfThese) {
  const std::vector<std::string> words = {"a", "b", "c", "bc", "ab", "aa", "aaaa"};
  EXPECT_EQ(testing::ids_of(bpe(words, {"b c", "a b"}), "abc ab"), (Ids{0, 3, 4}));
  EXPECT_EQ(testing::ids_of(bpe(words, {"a b", "b c"}), "abc"), (Ids{4, 2}));
  EXPECT_EQ(testing::ids_of(bpe(words, {"a a", "aa aa"}), "aaaaa aaa"), (Ids{6, 0, 5, 0}));
}

TEST(BpeTest, ReadsBothFormsOfMerges) {
  const std::vector<std::string> words = {"a", "b", "ab", " ", "a b"};
  EXPECT_EQ(testing::ids_of(bpe(words, {"#version: 0.2", "a b"}), "ab"), (Ids{2}));
  EXPECT_EQ(testing::ids_of(bpe(words, Json::parse(R"([["a", "b"]])")), "ab"), (Ids{2}));
  EXPECT_EQ(testing::ids_of(bpe(words, Json::array()), "ab"), (Ids{0, 1}));
}

TEST(BpeTest, ReadsListsHoweverTheyAreWritten) {
  // Lists as a file has them: without any white space, indented, and with all there may be; then with escapes.
  const auto file = [](const std::string& vocab, const std::string& merges) {
    return R"({"pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"BPE","vocab":{)" + vocab +
           R"(},"merges":[)" + merges + "]}}";
  };
  const auto expect_read = [](const std::string& text) {
    const auto tokenizer = Tokenizer::from_json(text, "tokenizer.json");
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string() << "\n" << text;
    EXPECT_EQ(testing::ids_of(*tokenizer, "a\"é中b"), (Ids{5, 6})) << text;
    EXPECT_EQ(tokenizer->token(7), "a longer token, of more than eight bytes, é中") << text;
  };
  const std::string vocab =
      R"("a":0,"\"":1,"é":2,"中":3,"b":4,"a\"é":5,"中b":6,"a longer token, of more than eight bytes, é中":7,"a\"":8)";
  expect_read(file(vocab, R"(["a","\""],["a\"","é"],["中","b"])"));
  expect_read(file(vocab, R"("a \"","a\" é","中 b")"));
  expect_read(file(
      "\n      \"a\": 0,\n      \"\\\"\" :\t1 ,\r\n          \"\\u00e9\": 2,\n      \"中\":3,\"b\": 4, \"a\\\"é\": "
      "5,\n      \"中b\": 6,\n      \"a longer token, of more than eight bytes, é中\": 7\n , \"a\\u0022\": 8\n    ",
      "\n                  [\n        \"a\",\n        \"\\\"\"\n      ] ,\n      [ \"a\\\"\" , \"\\u00E9\" "
      "],[\"中\",\"b\"]"
      "\n    "));
}

TEST(BpeTest, SaysWhereAListIsDamaged) {
  const std::string front = R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2)";
  const std::string middle = R"(},"merges":[)";
  const auto damaged = [](const std::string& good, const std::string& bad, const std::string& behind) {
    const auto tokenizer = Tokenizer::from_json(good + bad + behind, "tokenizer.json");
    ASSERT_FALSE(tokenizer.ok()) << bad;
    const std::string message(tokenizer.status().message());
    EXPECT_TRUE(message.starts_with("tokenizer.json: not JSON: ")) << message;
    constexpr std::string_view kPlace = " at byte ";
    const auto place = message.find(kPlace);
    ASSERT_NE(place, std::string::npos) << message;
    const std::size_t byte = std::stoul(message.substr(place + kPlace.size()));
    EXPECT_GE(byte, good.size()) << message;
    EXPECT_LE(byte, good.size() + bad.size()) << message;
  };
  const std::string behind = R"("b"]]}})";
  for (const char* bad : {",}", ",\"c\"}", ",\"c\":}", ",\"c\":0x", ",\"c\":01", ",\"c\":-,", ",\"c\":3.,", ",\"c\n",
                          ",\"\xFF", ",\"c\\q", ",\"\xE0\x80", ",\"\\ud800\""})
    damaged(front, bad, middle + behind);
  for (const char* bad : {",]", "x", ",[\"\xED\xA0", ",[\"a\",\"b\t"})
    damaged(front + middle + R"(["a","b"])", bad, behind);
  for (const char* bad : {",]", ",\"a\n", ",\"\xC0"})
    damaged(front + middle + R"("a b")", bad, behind);
}

TEST(BpeTest, FindsWhatMergesMakeInAnyOrder) {
  // The token of a merge is before that of the merge before it, the same, far behind, or there twice.
  const std::vector<std::string> words = {"a", "b", "c", "abc", "bc", "ab", "x", "cab", "aa"};
  const Json merges = Json::parse(R"(["a b", "b c", "ab c", "a bc", "c ab", "a a"])");
  const Json file = bpe(words, merges);
  EXPECT_EQ(testing::ids_of(file, "abc bc bcx cab aa"), (Ids{3, 4, 4, 6, 7, 8}));
}

TEST(BpeTest, TakesTheLaterOneOfEqualPairs) {
  // As the last merge, a+b comes after b+c.
  EXPECT_EQ(testing::ids_of(bpe({"a", "b", "c", "ab", "bc"}, {"a b", "b c", "a b"}), "abc"), (Ids{0, 4}));
}

TEST(BpeTest, ReadsAFileThatDoesNotNameTheModel) {
  Json file = bpe({"a", "b", "ab"}, {"a b"});
  file["model"].erase("type");
  EXPECT_EQ(testing::ids_of(file, "ab"), (Ids{2}));
}

TEST(BpeTest, LeavesOutWhatIsUnknownOrSaysSo) {
  const std::vector<std::string> words = {"?", "a", "b", "ab"};
  EXPECT_EQ(testing::ids_of(bpe(words, {"a b"}), "axyb xx ab"), (Ids{3, 3}));
  EXPECT_EQ(testing::ids_of(bpe(words, {"a b"}, {{"unk_token", "?"}}), "axyb"), (Ids{1, 0, 0, 2}));
  EXPECT_EQ(testing::ids_of(bpe(words, {"a b"}, {{"unk_token", "?"}, {"fuse_unk", true}}), "axyb 中é"),
            (Ids{1, 0, 2, 0}));
}

TEST(BpeTest, MarksContinuedCharactersAndTheLast) {
  const std::vector<std::string> words = {"a", "#b", "#b$", "a$", "ab$", "ab"};
  const Json marks = {{"continuing_subword_prefix", "#"}, {"end_of_word_suffix", "$"}};
  EXPECT_EQ(testing::ids_of(bpe(words, {"a #b$", "a #b"}, marks), "ab abb a"), (Ids{4, 5, 2, 3}));
}

TEST(BpeTest, FallsBackToBytes) {
  const std::vector<std::string> words = {"?", "a", "<0xC3>", "<0xA9>", "<0xA8>"};
  const Json options = {{"byte_fallback", true}, {"unk_token", "?"}};
  EXPECT_EQ(testing::ids_of(bpe(words, Json::array(), options), "aé"), (Ids{1, 2, 3}));
  EXPECT_EQ(testing::ids_of(bpe(words, Json::array(), options), "ö"), (Ids{0}));
  // As in the reference, the unknown one waits for a character that is known.
  EXPECT_EQ(testing::ids_of(bpe(words, Json::array(), options), "öéa"), (Ids{2, 3, 0, 1}));
}

TEST(BpeTest, IgnoresMergesForAWordOfTheVocabulary) {
  const std::vector<std::string> words = {"a", "b", "ab", "ba", "bab"};
  EXPECT_EQ(testing::ids_of(bpe(words, {"a b"}), "bab"), (Ids{1, 2}));
  EXPECT_EQ(testing::ids_of(bpe(words, {"a b"}, {{"ignore_merges", true}}), "bab ba baba"), (Ids{4, 3, 1, 2, 0}));
}

TEST(BpeTest, TakesAWordOfAMegabyte) {
  Json merges = Json::array();
  std::vector<std::string> words = {"a"};
  for (int i = 0; i < 8; ++i) {
    merges.push_back({words.back(), words.back()});
    words.push_back(words.back() + words.back());
  }
  auto tokenizer = testing::open(bpe(words, merges));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(testing::ids_of(*tokenizer, std::string(1'000'001, 'a')).size(), 3908U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(BpeTest, RefusesMergesByNumber) {
  const std::vector<std::string> words = {"a", "b", "ab"};
  const auto refused = [&](const std::string& merges, const std::string& part) {
    expect_bpe_refused(bpe(words, Json::parse(merges)), StatusCode::kInvalidModel, part);
  };
  refused(R"(["a b", "a c"])", "model.merges: 'c' of merge 1 is not in the vocabulary");
  refused(R"(["c a"])", "model.merges: 'c' of merge 0 is not in the vocabulary");
  refused(R"(["b a"])", "model.merges: 'ba' of merge 0 is not in the vocabulary");
  refused(R"(["a b", "ab"])", "model.merges: merge 1, 'ab', is not two tokens with a space between");
  refused(R"(["a b b"])", "model.merges: merge 0, 'a b b', is not two tokens");
  const std::string neither = " does not have the form of the first one, a text or two texts";
  refused(R"(["a b", ["a", "b"]])", "model.merges: merge 1" + neither);
  refused(R"([["a", "b"], "a b"])", "model.merges: merge 1" + neither);
  refused(R"([["a", "b", "ab"]])", "model.merges: merge 0" + neither);
  for (const char* merge : {"[\"a\"]", "[\"a\", 1]", "[[\"a\", \"b\"]]", "[]", "1", "null", "{}", "[{}]", "true"})
    refused("[" + std::string(merge) + "]", "model.merges: merge 0" + neither);
  for (const char* merges : {"{}", "true", "null", "\"a b\""})
    refused(merges, "model has no 'merges' (an array)");
}

TEST(BpeTest, RefusesWhatItCouldOnlyApproximate) {
  const std::vector<std::string> words = {"a", "b", "ab"};
  const auto with = [&](const char* key, const Json& value) { return bpe(words, {"a b"}, {{key, value}}); };
  expect_bpe_refused(with("dropout", 0.1), StatusCode::kUnsupported, "model.dropout is not 0");
  expect_bpe_refused(with("dropout", "0"), StatusCode::kInvalidModel, "model.dropout is not a number");
  expect_bpe_refused(with("unk_token", "?"), StatusCode::kInvalidModel, "model.unk_token '?' is not in the vocabulary");
  expect_bpe_refused(with("unk_token", 1), StatusCode::kInvalidModel, "model.unk_token is not a string");
  expect_bpe_refused(with("fuse_unk", 1), StatusCode::kInvalidModel, "model.fuse_unk is not true or false");
  expect_bpe_refused(with("byte_fallback", "x"), StatusCode::kInvalidModel, "model.byte_fallback is not true or false");
  expect_bpe_refused(with("other", 1), StatusCode::kUnsupported, "model has the key 'other'");
  expect_bpe_refused(with("continuing_subword_prefix", "##"), StatusCode::kInvalidModel,
                     "model.merges: 'b' of merge 0 does not begin with the prefix");
  expect_bpe_refused(with("end_of_word_suffix", std::string(513, 'x')), StatusCode::kUnsupported,
                     "model.end_of_word_suffix is longer than 512 bytes");
  expect_bpe_refused(bpe(words, {"a b"}, {{"byte_fallback", true}, {"end_of_word_suffix", "12345678901234567"}}),
                     StatusCode::kUnsupported, "model.byte_fallback with a prefix and suffix of more than 16 bytes");
  expect_bpe_refused(bpe(words, {"a " + std::string(65'536, 'b')}), StatusCode::kUnsupported,
                     "model.merges: merge 0 has a token of more than 65535 bytes");
  for (const char* key : {"dropout", "unk_token", "fuse_unk", "ignore_merges", "byte_fallback", "end_of_word_suffix"})
    EXPECT_EQ(testing::ids_of(with(key, nullptr), "ab"), (Ids{2})) << key;
  EXPECT_EQ(testing::ids_of(with("dropout", 0.0), "ab"), (Ids{2}));
}

TEST(BpeTest, TakesTokensOf64KiB) {
  std::vector<std::string> words = {"a"};
  Json merges = Json::array();
  while (words.back().size() < Vocabulary::kTokenBytesMax) {
    merges.push_back({words.back(), words.back()});
    words.push_back(words.back() + words.back());
  }
  const auto tokenizer = testing::open(bpe(words, merges));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  EXPECT_EQ(testing::ids_of(*tokenizer, std::string(1'024, 'a')), (Ids{10}));
  EXPECT_EQ(testing::ids_of(*tokenizer, std::string(65'535, 'a')),
            (Ids{15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(testing::ids_of(*tokenizer, std::string(65'536 + 512, 'a')), (Ids{16, 9}));
  words.push_back(std::string(65'537, 'b'));
  expect_bpe_refused(bpe(words, merges, {{"ignore_merges", true}}), StatusCode::kUnsupported,
                     "the token of id 17 is 65537 bytes long, more than the 65536 supported");
  words.back() = std::string(65'536, 'b');
  const Json whole = bpe(words, merges, {{"ignore_merges", true}});
  EXPECT_EQ(testing::ids_of(whole, words.back() + " " + words.back() + "b"), (Ids{17}));
}

TEST(BpeTest, TakesAMillionMergesAndTheVocabularyBehindThem) {
  std::string json_text = R"({"pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"BPE","merges":["a b")";
  for (int i = 1; i < 1'000'000; ++i)
    json_text += ",\"a b\"";
  json_text += R"(],"vocab":{"a":0,"b":1,"ab":2}}})";
  const auto tokenizer = Tokenizer::from_json(json_text, "many");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  EXPECT_EQ(testing::ids_of(*tokenizer, "ab"), (Ids{2}));
}

// A file long enough that its vocabulary and the second half of its merges are read on other threads: all pairs of 150
// characters, far apart.
class LongMergesTest : public ::testing::Test {
 protected:
  static constexpr int kCharacters = 150;

  static std::string character(int i) { return Json::parse(fmt::format("\"\\u{:04x}\"", 0x100 + i)); }
  // Each merge is what `write` makes of its two characters, or of what replaces them at a rank.
  core::Result<Tokenizer> open(const std::map<int, std::string>& replaced = {}, const std::string& more_tokens = "") {
    std::string vocab;
    std::string merges;
    for (int i = 0; i < kCharacters; ++i)
      vocab += fmt::format("\"{}\":{},", character(i), i);
    for (int rank = 0; rank < kCharacters * kCharacters; ++rank) {
      const std::string left = character(rank / kCharacters);
      const std::string right = character(rank % kCharacters);
      vocab += fmt::format("\"{}{}\":{},", left, right, kCharacters + rank);
      const auto other = replaced.find(rank);
      merges += fmt::format("{}\n{:60}\"{}\"", rank == 0 ? "" : ",", "",
                            other == replaced.end() ? left + " " + right : other->second);
    }
    vocab += more_tokens;
    vocab.pop_back();
    return Tokenizer::from_json(R"({"model":{"type":"BPE","vocab":{)" + vocab + R"(},"merges":[)" + merges + "]}}",
                                "long.json");
  }
};

TEST_F(LongMergesTest, AreReadAsShortOnesAre) {
  const auto tokenizer = open();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  for (int rank = 0; rank < kCharacters * kCharacters; rank += 7) {
    ASSERT_EQ(testing::ids_of(*tokenizer, character(rank / kCharacters) + character(rank % kCharacters)),
              (Ids{kCharacters + rank}));
  }
  // Of two pairs the one of the lower rank.
  EXPECT_EQ(testing::ids_of(*tokenizer, character(149) + character(3) + character(9)),
            (Ids{149, kCharacters + 3 * kCharacters + 9}));
}

TEST_F(LongMergesTest, TheFirstWrongOneIsNamed) {
  const auto expect_refused = [](const core::Result<Tokenizer>& tokenizer, const std::string& part) {
    ASSERT_FALSE(tokenizer.ok()) << part;
    EXPECT_EQ(tokenizer.status().code(), StatusCode::kInvalidModel);
    EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(part));
  };
  const std::string other = character(kCharacters);
  const std::string wrong = character(5) + " " + other;
  expect_refused(open({{22'000, wrong}}), "'" + other + "' of merge 22000 is not in the vocabulary");
  expect_refused(open({{300, wrong}, {22'000, wrong}}), "'" + other + "' of merge 300 is not in the vocabulary");
  expect_refused(open({{300, "ab"}}), "merge 300, 'ab', is not two tokens");
  expect_refused(open({}, "\"a\":22700,\"a\":22701,"), "the token 'a' occurs twice");
  expect_refused(open({}, "\"a\":22700,\"b\":22700,"), "tokens 'a' and 'b' have the same id 22700");
}

}  // namespace
}  // namespace latebind::embedding
