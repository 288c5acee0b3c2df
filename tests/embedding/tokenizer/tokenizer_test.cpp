#include "embedding/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/platform/system_info.h"
#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using testing::added_token;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::ids_of;
using testing::small_tokenizer;
using Ids = std::vector<std::int32_t>;

constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

Tokenizer small() {
  return *testing::open(small_tokenizer());
}

TEST(TokenizerTest, EncodesThroughAllStages) {
  const Tokenizer tokenizer = small();
  EXPECT_EQ(ids_of(tokenizer, "Hello, unaffable wörld!"), (Ids{2, 7, 1, 4, 5, 6, 8, 9, 3}));
  EXPECT_EQ(ids_of(tokenizer, "中a Café ab"), (Ids{2, 12, 10, 13, 10, 11, 3}));
  EXPECT_EQ(ids_of(tokenizer, ""), (Ids{2, 3}));
  EXPECT_EQ(ids_of(tokenizer, " \t\u0301"), (Ids{2, 3}));
  EXPECT_EQ(tokenizer.vocabulary_size(), 14U);
}

TEST(TokenizerTest, ALiteralSpecialTokenIsTheToken) {
  const Tokenizer tokenizer = small();
  EXPECT_EQ(ids_of(tokenizer, "hello[SEP]world [PAD]"), (Ids{2, 7, 3, 8, 0, 3}));
  EXPECT_EQ(ids_of(tokenizer, "[sep]"), (Ids{2, 1, 1, 1, 3}));
}

TEST(TokenizerTest, LongWordsAreUnknown) {
  const Tokenizer tokenizer = small();
  std::string longest = "a";
  for (int i = 0; i < 99; ++i)
    longest += "b";
  Ids expected{2, 10};
  expected.insert(expected.end(), 99, 11);
  expected.push_back(3);
  EXPECT_EQ(ids_of(tokenizer, longest), expected);
  EXPECT_EQ(ids_of(tokenizer, longest + "b"), (Ids{2, 1, 3}));
}

TEST(TokenizerTest, StripAccentsFollowsLowercaseUnlessItIsGiven) {
  json file = small_tokenizer({"cafe", "café", "Cafe", "Café"});
  EXPECT_EQ(ids_of(file, "Café"), (Ids{2, 4, 3}));
  file["normalizer"]["strip_accents"] = false;
  EXPECT_EQ(ids_of(file, "Café"), (Ids{2, 5, 3}));
  file["normalizer"]["lowercase"] = false;
  file["normalizer"]["strip_accents"] = nullptr;
  EXPECT_EQ(ids_of(file, "Café"), (Ids{2, 7, 3}));
  file["normalizer"]["strip_accents"] = true;
  EXPECT_EQ(ids_of(file, "Café"), (Ids{2, 6, 3}));
  file["normalizer"] = nullptr;
  EXPECT_EQ(ids_of(file, "Café"), (Ids{2, 7, 3}));
}

TEST(TokenizerTest, CutsAtTheEndWithSpecialTokensCounted) {
  const Tokenizer tokenizer = small();
  EXPECT_EQ(ids_of(tokenizer, "hello world !", 5), (Ids{2, 7, 8, 9, 3}));
  EXPECT_EQ(ids_of(tokenizer, "hello world !", 4), (Ids{2, 7, 8, 3}));
  EXPECT_EQ(ids_of(tokenizer, "hello unaffable", 5), (Ids{2, 7, 4, 5, 3}));  // inside a word
  EXPECT_EQ(ids_of(tokenizer, "hello[SEP]world", 4), (Ids{2, 7, 3, 3}));
  EXPECT_EQ(ids_of(tokenizer, "hello", 2), (Ids{2, 3}));
}

TEST(TokenizerTest, RefusesALimitBelowTheSpecialTokens) {
  Ids ids{9};
  const auto status = small().encode("hello", 1, ids);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(), HasSubstr("a limit of 1 token leaves no room for the 2 special tokens"));
  EXPECT_EQ(ids, Ids{9});
}

TEST(TokenizerTest, AppendsToWhatIsThere) {
  Ids ids{9, 9};
  ASSERT_TRUE(small().encode("hello", 3, ids).ok());
  EXPECT_EQ(ids, (Ids{9, 9, 2, 7, 3}));
}

TEST(TokenizerTest, NamesTheByteThatIsNotUtf8) {
  const Tokenizer tokenizer = small();
  Ids ids{9};
  // Also behind the place where the limit would have ended the work.
  for (const std::size_t max_tokens : {std::size_t{2}, std::size_t{3}, kNoLimit}) {
    const auto status = tokenizer.encode("hello \xff world", max_tokens, ids);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.to_string(), "the text is not UTF-8 at byte 6");
    EXPECT_EQ(ids, Ids{9});
  }
}

TEST(TokenizerTest, BertProcessingAndNoPostProcessor) {
  json file = small_tokenizer();
  file["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}};
  EXPECT_EQ(ids_of(file, "hello"), (Ids{2, 7, 3}));
  file["post_processor"] = nullptr;
  EXPECT_EQ(ids_of(file, "hello"), (Ids{7}));
}

TEST(TokenizerTest, ATemplateMayAddSeveralTokens) {
  json file = small_tokenizer();
  file["post_processor"]["special_tokens"]["[CLS]"]["ids"] = {2, 0, 2};
  EXPECT_EQ(ids_of(file, "hello"), (Ids{2, 0, 2, 7, 3}));
  EXPECT_EQ(ids_of(*testing::open(file), "hello", 4), (Ids{2, 0, 2, 3}));
}

TEST(TokenizerTest, AddedTokensBehindTheVocabularyCount) {
  json file = small_tokenizer();
  file["added_tokens"].push_back(added_token("<new>", 14));
  const auto tokenizer = testing::open(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  EXPECT_EQ(tokenizer->vocabulary_size(), 15U);
  EXPECT_EQ(ids_of(*tokenizer, "hello<new>world"), (Ids{2, 7, 14, 8, 3}));
}

TEST(TokenizerTest, NormalizedAddedTokensAreFoundInTheNormalizedText) {
  json file = small_tokenizer();
  json token = added_token("Yésterday", 14);
  token["normalized"] = true;
  file["added_tokens"].push_back(token);
  EXPECT_EQ(ids_of(file, "hello YESTERDAY world"), (Ids{2, 7, 14, 8, 3}));
  EXPECT_EQ(ids_of(file, "helloyesterday!"), (Ids{2, 7, 14, 9, 3}));
  EXPECT_EQ(ids_of(*testing::open(file), "hello YESTERDAY world", 4), (Ids{2, 7, 14, 3}));
}

TEST(TokenizerTest, IdsMayHaveGaps) {
  json file = small_tokenizer();
  file["model"]["vocab"]["far"] = 5000;
  const auto tokenizer = testing::open(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  EXPECT_EQ(tokenizer->vocabulary_size(), 5001U);
  EXPECT_EQ(ids_of(*tokenizer, "far"), (Ids{2, 5000, 3}));
}

TEST(TokenizerTest, GivesTheTextOfAnId) {
  json file = small_tokenizer();
  file["model"]["vocab"]["far"] = 5000;  // 15 words, so that added tokens go on from 15
  json normalized = added_token("Yésterday", 15);
  normalized["normalized"] = true;
  file["added_tokens"].push_back(normalized);
  file["added_tokens"].push_back(added_token("", 16));  // not a token
  file["added_tokens"].push_back(added_token("<new>", 16));
  const auto tokenizer = testing::open(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  EXPECT_EQ(tokenizer->token(0), "[PAD]");
  EXPECT_EQ(tokenizer->token(5), "##aff");
  EXPECT_EQ(tokenizer->token(12), "中");
  EXPECT_EQ(tokenizer->token(15), "yesterday");  // as it is looked for
  EXPECT_EQ(tokenizer->token(16), "<new>");
  EXPECT_EQ(tokenizer->token(5000), "far");
  for (const std::int32_t without : {std::numeric_limits<std::int32_t>::min(), -1, 14, 17, 4999, 5001})
    EXPECT_EQ(tokenizer->token(without), std::nullopt) << without;
}

TEST(TokenizerTest, AnAddedTokenInAGapIsNamedBeforeTheWordOfItsId) {
  json file = small_tokenizer();
  file["model"]["vocab"]["far"] = 15;
  file["added_tokens"].push_back(added_token("<new>", 15));
  const auto tokenizer = testing::open(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  EXPECT_EQ(tokenizer->token(15), "<new>");
}

TEST(TokenizerTest, KeepsTheEndOfALongerText) {
  const Tokenizer tokenizer = small();
  const auto end_of = [&](std::string_view text, std::size_t max_tokens) {
    Ids ids{-1};
    const auto cut = tokenizer.encode_end(text, max_tokens, ids);
    EXPECT_TRUE(cut.ok()) << cut.status().to_string();
    return std::pair(*cut, Ids(ids.begin() + 1, ids.end()));
  };
  EXPECT_EQ(end_of("hello world unaffable!", 5), std::pair(std::size_t{3}, Ids{2, 5, 6, 9, 3}));
  EXPECT_EQ(end_of("hello world unaffable!", 8), std::pair(std::size_t{0}, Ids{2, 7, 8, 4, 5, 6, 9, 3}));
  EXPECT_EQ(end_of("hello world", kNoLimit), std::pair(std::size_t{0}, Ids{2, 7, 8, 3}));
  EXPECT_EQ(end_of("hello world", 2), std::pair(std::size_t{2}, Ids{2, 3}));
  EXPECT_EQ(end_of("", 2), std::pair(std::size_t{0}, Ids{2, 3}));
  EXPECT_EQ(tokenizer.tokens_before(), 1U);
  EXPECT_EQ(tokenizer.tokens_after(), 1U);
  Ids ids{-1};
  EXPECT_EQ(tokenizer.encode_end("hello", 1, ids).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(tokenizer.encode_end("hello \xff", 9, ids).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ids, Ids{-1});
}

TEST(TokenizerTest, DecodesAsTheReferenceDoes) {
  const Tokenizer tokenizer = small();
  const Ids ids{2, 7, 1, 4, 5, 6, 8, 9, 3};
  EXPECT_EQ(*tokenizer.decode(ids, false), "[CLS] hello [UNK] unaffable world! [SEP]");
  EXPECT_EQ(*tokenizer.decode(ids, true), "hello unaffable world!");
  EXPECT_EQ(*tokenizer.decode(Ids{5, 6}, true), "##affable");  // nothing before it that it could continue
  EXPECT_EQ(*tokenizer.decode({}, true), "");
  for (const std::int32_t unknown : {14, -1}) {
    const auto refused = tokenizer.decode(Ids{7, unknown}, true);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.status().to_string(), HasSubstr("no token has the id " + std::to_string(unknown)));
  }
}

TEST(TokenizerTest, DecodesByWhatTheFileNames) {
  json file = small_tokenizer();
  const Ids ids{4, 5, 9};
  file["decoder"]["cleanup"] = false;
  EXPECT_EQ(*testing::open(file)->decode(ids, false), "unaff !");
  file["decoder"]["prefix"] = "#";
  EXPECT_EQ(*testing::open(file)->decode(ids, false), "un#aff !");
  file["decoder"] = nullptr;
  EXPECT_EQ(*testing::open(file)->decode(ids, false), "un ##aff !");
  file.erase("decoder");
  EXPECT_EQ(*testing::open(file)->decode(ids, false), "un ##aff !");
}

TEST(TokenizerTest, AnUnknownDecoderIsRefusedByNameWhenItIsNeeded) {
  json file = small_tokenizer();
  const auto expect_refused = [&](StatusCode code, std::string_view reason) {
    const auto tokenizer = testing::open(file);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    EXPECT_EQ(ids_of(*tokenizer, "hello"), (Ids{2, 7, 3}));
    const auto refused = tokenizer->decode(Ids{7}, true);
    EXPECT_EQ(refused.status().code(), code);
    EXPECT_THAT(refused.status().to_string(), HasSubstr(reason));
  };
  file["decoder"] = {{"type", "CTC"}};
  expect_refused(StatusCode::kUnsupported,
                 "decoder of type 'CTC' is not supported; supported are WordPiece, ByteLevel, Metaspace");
  file["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}, {"new", 1}};
  expect_refused(StatusCode::kUnsupported, "new");
  file["decoder"] = {{"type", "WordPiece"}};
  expect_refused(StatusCode::kInvalidModel, "prefix");
  file["decoder"] = 7;
  expect_refused(StatusCode::kInvalidModel, "decoder");
}

TEST(TokenizerTest, ServesManyThreadsAtOnce) {
  const Tokenizer tokenizer = small();
  const std::string text = "Hello wörld 中 café Ünaffable \u1e9b\u0323 ﷺ 한글 😀 unaffable!";
  const Ids expected = ids_of(small(), text);
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        Ids ids;
        equal += tokenizer.encode(text, kNoLimit, ids).ok() && ids == expected ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(equal, 8 * 200);
}

TEST(TokenizerTest, CanBeMoved) {
  Tokenizer first = small();
  const Tokenizer second = std::move(first);
  EXPECT_EQ(ids_of(second, "hello"), (Ids{2, 7, 3}));
}

std::string repeated(std::string_view unit, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + unit.size());
  while (text.size() < bytes)
    text += unit;
  return text;
}

// Anything quadratic would run for days, anything that copies the text would show in the memory.
TEST(TokenizerTest, TakesFiftyMegabytesInLittleTimeAndMemory) {
  const Tokenizer tokenizer = small();
  constexpr std::size_t kBytes = 50'000'000;
  Ids ids;
  for (const std::string_view unit :
       {"a", "\u0301", "\u302e", "\u302e\U0001d165", "[", "[CLS", "\u00e9", " ", "[CLS]"}) {
    const std::string text = repeated(unit, kBytes);
    const auto before = platform::peak_resident_bytes();
    ids.clear();
    ASSERT_TRUE(tokenizer.encode(text, 256, ids).ok());
    EXPECT_LE(ids.size(), 256U);
    EXPECT_LT(platform::peak_resident_bytes() - before, 8U << 20) << unit;
  }
  const std::string words = repeated("hello unaffable w\u00f6rld! ", kBytes);
  ids.clear();
  ASSERT_TRUE(tokenizer.encode(words, kNoLimit, ids).ok());
  EXPECT_EQ(ids.size(), words.size() / 24 * 6 + 2);
}

}  // namespace
}  // namespace latebind::embedding
