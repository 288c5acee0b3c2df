// What a tokenizer.json may ask for, and how everything else is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using testing::added_token;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::small_tokenizer;
using ::testing::StartsWith;

void expect_refused(const std::string& text, StatusCode code, const std::string& part) {
  const auto tokenizer = Tokenizer::from_json(text, "tokenizer.json");
  ASSERT_FALSE(tokenizer.ok()) << "not refused, though expected: " << part;
  const std::string message = tokenizer.status().to_string();
  EXPECT_EQ(tokenizer.status().code(), code) << message;
  EXPECT_THAT(message, StartsWith("tokenizer.json: "));
  EXPECT_THAT(message, HasSubstr(part));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  EXPECT_LT(message.size(), 400U) << message;
}

void expect_refused(const std::function<void(json&)>& change, StatusCode code, const std::string& part) {
  json file = small_tokenizer();
  change(file);
  expect_refused(file.dump(), code, part);
}

TEST(TokenizerFileTest, NamesTheComponentThatIsNotSupported) {
  const auto unsupported = [](const char* where, const char* type, const std::string& part) {
    expect_refused([&](json& f) { f[where]["type"] = type; }, StatusCode::kUnsupported, part);
  };
  unsupported("normalizer", "Other",
              "normalizer of type 'Other' is not supported; supported are BertNormalizer, Lowercase");
  unsupported("pre_tokenizer", "Other", "pre_tokenizer of type 'Other' is not supported");
  unsupported("post_processor", "Other", "post_processor of type 'Other' is not supported");
  unsupported("model", "Other",
              "model of type 'Other' is not supported; supported are WordPiece, WordLevel, BPE and Unigram");
}

TEST(TokenizerFileTest, NamesTheNearestPartAndKeyThatWork) {
  const auto nearest = [](const char* pointer, const json& value, const std::string& part) {
    expect_refused([&](json& f) { f[json::json_pointer(pointer)] = value; }, StatusCode::kUnsupported, part);
  };
  nearest("/normalizer/type", "Lowercased",
          "normalizer of type 'Lowercased' is not supported; the nearest supported name is Lowercase; supported are");
  nearest("/pre_tokenizer/type", "Whitespaces", "the nearest supported name is Whitespace; supported are Bert");
  nearest("/post_processor/type", "Template", "the nearest supported name is TemplateProcessing; supported are");
  nearest("/model/type", "SentencePiece", "the nearest supported name is WordPiece; supported are");
  nearest("/normalizer/lower_case", true,
          "has the key 'lower_case', which is not supported; the nearest supported name is lowercase; supported are "
          "type, clean_text");
}

TEST(TokenizerFileTest, NamesOtherModelsEvenWhenTheirVocabularyIsOfAnotherKind) {
  const json with_scores = json::array({json::array({"a", -1.5})});
  expect_refused([&](json& f) { f["model"]["vocab"] = with_scores; }, StatusCode::kInvalidModel,
                 "model has no 'vocab' (an object)");
  expect_refused(
      [](json& f) {
        f["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", {{"a", 0}}}};
      },
      StatusCode::kInvalidModel, "model has no 'vocab' (an array of tokens and scores)");
  expect_refused(
      [&](json& f) {
        f["model"] = {{"type", "Other"}, {"vocab", with_scores}, {"merges", {{"a", "b"}}}};
      },
      StatusCode::kUnsupported, "model of type 'Other'");
}

TEST(TokenizerFileTest, NamesKeysThatItDoesNotKnow) {
  const auto unknown = [](const json::json_pointer& where, const std::string& part) {
    expect_refused([&](json& f) { f[where]["fuse_unk"] = true; }, StatusCode::kUnsupported, part);
  };
  unknown(json::json_pointer("/model"), "model has the key 'fuse_unk'");
  unknown(json::json_pointer("/normalizer"), "normalizer has the key 'fuse_unk'");
  unknown(json::json_pointer("/pre_tokenizer"), "pre_tokenizer has the key 'fuse_unk'");
  unknown(json::json_pointer("/post_processor"), "post_processor has the key 'fuse_unk'");
  unknown(json::json_pointer("/added_tokens/2"), "added_tokens[2] has the key 'fuse_unk'");
  unknown(json::json_pointer(""), "the file has the key 'fuse_unk'");
  json file = small_tokenizer();
  file["model"]["fuse_unk"] = nullptr;  // says nothing
  EXPECT_TRUE(testing::open(file).ok());
}

TEST(TokenizerFileTest, NamesWhatIsMissingOrOfTheWrongKind) {
  const auto wrong = [](const char* pointer, const json& value, const std::string& part) {
    expect_refused([&](json& f) { f[json::json_pointer(pointer)] = value; }, StatusCode::kInvalidModel, part);
  };
  wrong("/normalizer/lowercase", "yes", "normalizer.lowercase is not true or false");
  wrong("/normalizer/strip_accents", 1, "normalizer.strip_accents is not true or false");
  wrong("/normalizer", 3, "normalizer is not an object");
  wrong("/model", json::array(), "model is not an object");
  wrong("/model/unk_token", nullptr, "model.unk_token is not a string");
  wrong("/model/unk_token", "[NONE]", "unk_token '[NONE]' is not in the vocabulary");
  wrong("/model/max_input_chars_per_word", -1, "model.max_input_chars_per_word is not a whole number");
  wrong("/model/vocab", 7, "model has no 'vocab'");
  wrong("/model/vocab", json::object(), "model.vocab is empty");
  wrong("/model/vocab/hello", "five", "the id of 'hello' is not a whole number from 0");
  wrong("/model/vocab/hello", 1.5, "the id of 'hello' is not a whole number from 0");
  wrong("/model/vocab/hello", -1, "the id of 'hello' is not a whole number from 0");
  wrong("/model/vocab/hello", json::array(), "the id of 'hello' is not a whole number from 0");
  wrong("/model/vocab/hello", 1, "have the same id 1");
  wrong("/model/vocab/hello", 18446744073709551615U, "the id of 'hello' is not a whole number from 0 to 16777215");
  wrong("/added_tokens", json::object(), "added_tokens is not an array");
  wrong("/added_tokens/0", 1, "added_tokens[0] is not an object");
  wrong("/added_tokens/0/content", 1, "added_tokens[0].content is not a string");
  wrong("/added_tokens/1/special", 1, "added_tokens[1].special is not true or false");
  wrong("/post_processor/single", "[CLS] $A [SEP]", "post_processor.single is not an array");
  wrong("/post_processor/single/0", "[CLS]", "post_processor.single[0] is not an object");
  wrong("/post_processor/special_tokens/[CLS]/ids/0", 999, "is not the id of a token (below 14)");
  wrong("/post_processor/special_tokens", json::object(), "post_processor.special_tokens['[CLS]'] is missing");
  wrong("/version", 1.0, "the file.version is not a string");
  for (const char* key : {"unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab", "type"}) {
    expect_refused([&](json& f) { f["model"].erase(key); }, StatusCode::kInvalidModel,
                   std::string("model has no '") + key + "'");
  }
  expect_refused([](json& f) { f["normalizer"].erase("clean_text"); }, StatusCode::kInvalidModel,
                 "normalizer has no 'clean_text'");
  expect_refused([](json& f) { f.erase("model"); }, StatusCode::kInvalidModel, "the file has no 'model'");
}

TEST(TokenizerFileTest, RefusesWhatItCouldOnlyApproximate) {
  const auto unsupported = [](const char* pointer, const json& value, const std::string& part) {
    expect_refused([&](json& f) { f[json::json_pointer(pointer)] = value; }, StatusCode::kUnsupported, part);
  };
  unsupported("/version", "2.0", "version '2.0' is not supported");
  unsupported("/model/max_input_chars_per_word", 1'000'000, "model.max_input_chars_per_word is 1000000");
  unsupported("/post_processor/single/0/SpecialToken/type_id", 1, "post_processor.single[0] has type_id 1");
  unsupported("/post_processor/single/1/Sequence/id", "B", "post_processor.single[1] is sequence 'B'");
  unsupported("/post_processor/single/1", {{"SpecialToken", {{"id", "[SEP]"}, {"type_id", 0}}}},
              "post_processor.single is without the sequence 'A'");
}

TEST(TokenizerFileTest, ChecksTheIdsOfAddedTokens) {
  expect_refused([](json& f) { f["added_tokens"][0]["id"] = 4; }, StatusCode::kInvalidModel,
                 "added_tokens[0]: the id of '[PAD]' is 4, but should be 0 (as in the vocabulary)");
  expect_refused([](json& f) { f["added_tokens"].push_back(added_token("<new>", 20)); }, StatusCode::kInvalidModel,
                 "added_tokens[4]: the id of '<new>' is 20, but should be 14 (the next one after the vocabulary)");
  expect_refused([](json& f) { f["added_tokens"].push_back(added_token("[CLS]", 2)); }, StatusCode::kInvalidModel,
                 "added_tokens[4]: '[CLS]' was added before");
}

TEST(TokenizerFileTest, RefusesAddedTokensThatNormalizeToNothingOrToTheSame) {
  const auto normalized = [](const char* content, int id) {
    json token = added_token(content, id);
    token["normalized"] = true;
    return token;
  };
  expect_refused([&](json& f) { f["added_tokens"].push_back(normalized("\u0301", 14)); }, StatusCode::kUnsupported,
                 "is empty after normalization");
  expect_refused(
      [&](json& f) {
        f["added_tokens"].push_back(normalized("New", 14));
        f["added_tokens"].push_back(normalized("nEW", 15));
      },
      StatusCode::kInvalidModel, "two added tokens look for 'new'");
}

TEST(TokenizerFileTest, RefusesDamagedJsonWithThePlace) {
  const std::string whole = small_tokenizer().dump();
  for (std::size_t size = 0; size < whole.size(); size += 13) {
    expect_refused(whole.substr(0, size), StatusCode::kInvalidModel, "not JSON: ");
  }
  expect_refused(whole + "}", StatusCode::kInvalidModel,
                 "not JSON: it has text after its end at byte " + std::to_string(whole.size()));
  expect_refused("[]", StatusCode::kInvalidModel, "not a JSON object");
  expect_refused("7", StatusCode::kInvalidModel, "not a JSON object");
  expect_refused("{\"a\": \"\xff\"}", StatusCode::kInvalidModel, "not JSON: 'a' has invalid UTF-8 at byte 7");
  expect_refused("{\"a\": 1e999}", StatusCode::kInvalidModel, "not JSON: 'a' has a number that is too large at byte 6");
  expect_refused("{\"a\": \"\\ud800\"}", StatusCode::kInvalidModel, "not JSON: 'a' has a lone surrogate at byte 7");
  expect_refused(whole + std::string("\0garbage", 8), StatusCode::kInvalidModel,
                 "not JSON: it has a zero byte at byte " + std::to_string(whole.size()));
  expect_refused("PK\x03\x04", StatusCode::kInvalidModel, "not JSON: it has an unexpected P at byte 0");
}

// Of so many bytes that they are looked at beside the parser.
TEST(TokenizerFileTest, ALongFileIsReadAndRefusedAsAShortOne) {
  json file = small_tokenizer();
  json& vocab = file["model"]["vocab"];
  for (int i = 0; i < 60'000; ++i)
    vocab[fmt::format("word-{:06}", i)] = 14 + i;
  const std::string whole = file.dump();
  ASSERT_GT(whole.size(), std::size_t{1} << 20);
  EXPECT_TRUE(Tokenizer::from_json(whole, "test").ok());
  const std::size_t at = whole.find("word-040000");
  const auto with = [&whole, at](char byte) {
    std::string damaged = whole;
    damaged[at] = byte;
    return damaged;
  };
  expect_refused(with('\xFF'), StatusCode::kInvalidModel, fmt::format("has invalid UTF-8 at byte {}", at));
  expect_refused(with('\0'), StatusCode::kInvalidModel, fmt::format("has a control character at byte {}", at));
  expect_refused(with('"'), StatusCode::kInvalidModel,
                 fmt::format("not JSON: 'model.vocab' has an unexpected o at byte {}", at + 1));
}

TEST(TokenizerFileTest, SaysWhatGitLfsHasNotLoaded) {
  expect_refused("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", StatusCode::kInvalidModel,
                 "a Git LFS pointer");
}

TEST(TokenizerFileTest, RefusesHostileJson) {
  // NOLINTNEXTLINE(bugprone-string-constructor): as large as it looks
  expect_refused(std::string(10'000'000, '['), StatusCode::kInvalidModel, "too many levels at byte 64: at most 64");
  std::string deep = "{\"decoder\":";
  for (int i = 0; i < 1000; ++i)
    deep += "{\"x\":";
  expect_refused(deep, StatusCode::kInvalidModel, "too many levels");
  std::string many = "{\"x\":[";
  for (int i = 0; i < 1'000'001; ++i)
    many += "0,";
  expect_refused(many + "0]}", StatusCode::kInvalidModel, "more than 1000000 values");
  expect_refused("{\"version\":\"1.0\",\"version\":\"1.0\"}", StatusCode::kInvalidModel, "'version' occurs twice");
  expect_refused(
      "{\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"continuing_subword_prefix\":\"\","
      "\"max_input_chars_per_word\":1,\"vocab\":{\"a\":0,\"b\":1,\"a\":2}}}",
      StatusCode::kInvalidModel, "model.vocab: the token 'a' occurs twice");
  expect_refused("{\"model\":{\"vocab\":{\"a\":0},\"vocab\":{\"b\":0}}}", StatusCode::kInvalidModel,
                 "'vocab' occurs twice");
  expect_refused(std::string((64U << 20) + 1, ' '), StatusCode::kUnsupported, "67108865 bytes are above the limit of");
  expect_refused([](json& f) { f["model"]["vocab"][std::string(65'537, 'x')] = 14; }, StatusCode::kUnsupported,
                 "65537 bytes long");
  expect_refused([](json& f) { f["model"]["vocab"]["a\nb" + std::string(300, 'x')] = 5; }, StatusCode::kInvalidModel,
                 "'a\\x0abxxx");
}

TEST(TokenizerFileTest, AcceptsWhatDoesNotMatterForIds) {
  json file = small_tokenizer();
  file["padding"] = {{"strategy", {{"Fixed", 128}}}, {"pad_id", 0}};
  file["truncation"] = {{"max_length", 3}, {"stride", 0}, {"strategy", "LongestFirst"}};
  file["decoder"] = {{"type", "Whatever"}};
  file["post_processor"]["pair"] = {{{"Sequence", {{"id", "B"}, {"type_id", 1}}}}};
  EXPECT_EQ(testing::ids_of(file, "hello world hello"), (std::vector<std::int32_t>{2, 7, 8, 7, 3}));
  file["pre_tokenizer"] = nullptr;  // a text is one word
  EXPECT_EQ(testing::ids_of(file, "unaffable"), (std::vector<std::int32_t>{2, 4, 5, 6, 3}));
  EXPECT_EQ(testing::ids_of(file, "hello world"), (std::vector<std::int32_t>{2, 1, 3}));
  EXPECT_EQ(testing::ids_of(file, ""), (std::vector<std::int32_t>{2, 3}));
  file = small_tokenizer();
  file.erase("padding");
  file.erase("truncation");
  file.erase("decoder");
  file.erase("version");
  EXPECT_EQ(testing::ids_of(file, "hello"), (std::vector<std::int32_t>{2, 7, 3}));
}

TEST(TokenizerFileTest, NamesAFileThatIsMissingOrNoFile) {
  const auto missing = Tokenizer::from_file("/nonexistent/tokenizer.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().to_string(), HasSubstr("/nonexistent/tokenizer.json"));
  EXPECT_FALSE(Tokenizer::from_file(::testing::TempDir()).ok());
}

TEST(TokenizerFileTest, NamesTheFileThatIsDamaged) {
  const std::string file = ::testing::TempDir() + "damaged_tokenizer.json";
  std::ofstream(file) << "{\"model\":";
  const auto damaged = Tokenizer::from_file(file);
  ASSERT_FALSE(damaged.ok());
  EXPECT_THAT(damaged.status().to_string(), HasSubstr("damaged_tokenizer.json: not JSON: "));
}

}  // namespace
}  // namespace latebind::embedding
