// Where tokens are in their text. What the reference says is compared at length by the oracle; here is each rule once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/text/utf8.h"
#include "recorded.h"
#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using Json = nlohmann::json;
using Cut = Tokenizer::Cut;
using Places = std::vector<std::pair<std::size_t, std::size_t>>;
using Pieces = std::vector<std::string>;
using ::testing::HasSubstr;

constexpr std::size_t kWholeText = std::numeric_limits<std::size_t>::max();

Places token_places(const Json& file, std::string_view text, std::size_t max_tokens = kWholeText, Cut cut = Cut::kEnd) {
  const auto tokenizer = testing::open(file);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  if (!tokenizer.ok()) return {};
  std::vector<std::int32_t> ids;
  std::vector<TokenOffsets> offsets;
  const auto status = tokenizer->encode_with_offsets(text, max_tokens, cut, ids, offsets);
  EXPECT_TRUE(status.ok()) << status.to_string();
  std::vector<std::int32_t> plain;
  if (cut == Cut::kEnd) {
    EXPECT_TRUE(tokenizer->encode(text, max_tokens, plain).ok());
  } else {
    EXPECT_TRUE(tokenizer->encode_end(text, max_tokens, plain).ok());
  }
  EXPECT_EQ(ids, plain);
  EXPECT_EQ(offsets.size(), ids.size());
  Places places;
  for (const TokenOffsets& one : offsets)
    places.emplace_back(one.begin, one.end);
  return places;
}

// What the tokens stand for.
Pieces pieces_of(const Json& file, std::string_view text) {
  Pieces pieces;
  for (const auto& [begin, end] : token_places(file, text))
    pieces.emplace_back(text.substr(begin, end - begin));
  return pieces;
}

// One unknown token for each character that is left, with no special tokens.
Json by_characters(const Json& normalizer, const Json& pre_tokenizer = nullptr, const Json& model_change = {}) {
  Json model = {{"type", "BPE"}, {"unk_token", "?"}, {"vocab", {{"?", 0}}}, {"merges", Json::array()}};
  if (!model_change.empty()) model.update(model_change);
  return {{"version", "1.0"}, {"normalizer", normalizer}, {"pre_tokenizer", pre_tokenizer}, {"model", model}};
}

TEST(OffsetsTest, AreThoseOfTheTextAsItWasGiven) {
  const Json file = testing::small_tokenizer();
  EXPECT_EQ(pieces_of(file, "UNaffABLE  Hello!"), (Pieces{"", "UN", "aff", "ABLE", "Hello", "!", ""}));
  // A mark at the end of a word that is left out is in no token.
  EXPECT_EQ(pieces_of(file, "x中\u0301 Cafe\u0301 [SEP]"), (Pieces{"", "x", "中", "Cafe", "[SEP]", ""}));
  EXPECT_EQ(token_places(file, ""), (Places{{0, 0}, {0, 0}}));
}

TEST(OffsetsTest, FollowTruncationOnEitherSide) {
  const Json file = testing::small_tokenizer();
  EXPECT_EQ(token_places(file, "hello world !", 4), (Places{{0, 0}, {0, 5}, {6, 11}, {0, 0}}));
  EXPECT_EQ(token_places(file, "hello world !", 4, Cut::kBeginning), (Places{{0, 0}, {6, 11}, {12, 13}, {0, 0}}));
  EXPECT_EQ(token_places(file, "hello world !", 2), (Places{{0, 0}, {0, 0}}));
}

TEST(OffsetsTest, AddedTokensTakeTheirSpacesAlong) {
  Json file = testing::small_tokenizer();
  Json mask = testing::added_token("[MASK]", 14);
  mask["lstrip"] = mask["rstrip"] = true;
  file["added_tokens"].push_back(mask);
  Json upper = testing::added_token("YES", 15);
  upper["normalized"] = true;
  file["added_tokens"].push_back(upper);
  EXPECT_EQ(pieces_of(file, "a  [MASK] \u3000 a Yes中"), (Pieces{"", "a", "  [MASK] \u3000 ", "a", "Yes", "中", ""}));
}

TEST(OffsetsTest, NormalizersCarryThemAlong) {
  EXPECT_EQ(pieces_of(by_characters({{"type", "Lowercase"}}), "Aİ"), (Pieces{"A", "İ", "İ"}));
  EXPECT_EQ(pieces_of(by_characters({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}}), "\u3000a b "),
            (Pieces{"a", " ", "b"}));
  EXPECT_EQ(pieces_of(by_characters({{"type", "Prepend"}, {"prepend", "ab"}}), "é!"), (Pieces{"é", "é", "é", "!"}));
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", "bc"}}}, {"content", "xyz"}};
  EXPECT_EQ(pieces_of(by_characters(replace), "abcd"), (Pieces{"a", "c", "c", "c", "d"}));
  EXPECT_EQ(pieces_of(by_characters({{"type", "Nmt"}}), "a\x01\u200b中"), (Pieces{"a", "\u200b", "中"}));
  EXPECT_EQ(pieces_of(by_characters({{"type", "ByteLevel"}}), "a é"), (Pieces{"a", " ", "é", "é"}));
  EXPECT_EQ(pieces_of(by_characters({{"type", "StripAccents"}}), "e\u0301a"), (Pieces{"e", "a"}));
}

TEST(OffsetsTest, CharactersAreCountedThroughUnicodesForms) {
  EXPECT_EQ(pieces_of(by_characters({{"type", "NFD"}}), "éa"), (Pieces{"é", "é", "a"}));
  // A mark that moves stands for the character at its new place.
  EXPECT_EQ(token_places(by_characters({{"type", "NFD"}}), "e\u0301\u0323"), (Places{{0, 1}, {1, 3}, {3, 5}}));
  // What is composed stands for its first character, and those behind are gone.
  EXPECT_EQ(pieces_of(by_characters({{"type", "NFC"}}), "e\u0301a"), (Pieces{"e", "a"}));
  EXPECT_EQ(pieces_of(by_characters({{"type", "NFKC"}}), "½e\u0301"), (Pieces{"½", "½", "½", "e"}));
  const Json both = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFD"}}, {{"type", "NFC"}}}}};
  EXPECT_EQ(pieces_of(by_characters(both), "éa"), (Pieces{"é", "a"}));
}

TEST(OffsetsTest, BertsNormalizerIsOneStepAfterTheOther) {
  const Json bert = {{"type", "BertNormalizer"},
                     {"clean_text", true},
                     {"handle_chinese_chars", true},
                     {"strip_accents", true},
                     {"lowercase", true}};
  EXPECT_EQ(pieces_of(by_characters(bert), "\x01É中\t"), (Pieces{"É", "中", "中", "中", "\t"}));
  // U+302E is no mark to strip, and takes the place of one that is.
  EXPECT_EQ(token_places(by_characters(bert), "a\u0301\u302e"), (Places{{0, 1}, {1, 3}}));
}

TEST(OffsetsTest, WhatAPreTokenizerAddsStandsForWhatItIsPutBefore) {
  const auto metaspace = [](bool split) {
    return Json{{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}, {"split", split}};
  };
  EXPECT_EQ(pieces_of(by_characters(nullptr, metaspace(true)), "é b"), (Pieces{"é", "é", " ", "b"}));
  EXPECT_EQ(pieces_of(by_characters(nullptr, metaspace(false)), "é b"), (Pieces{"é", "é", " ", "b"}));
  const auto byte_level = [](bool add_prefix_space) {
    return Json{{"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"trim_offsets", true}};
  };
  EXPECT_EQ(pieces_of(by_characters(nullptr, byte_level(true)), "é b"), (Pieces{"é", "é", "é", " ", "b"}));
  const Json both = {{"type", "Sequence"}, {"pretokenizers", {metaspace(true), byte_level(false)}}};
  EXPECT_EQ(pieces_of(by_characters(nullptr, both), "a b"), (Pieces{"a", "a", "a", "a", " ", " ", " ", "b"}));
}

TEST(OffsetsTest, BytesThatStandForACharacterHaveAllOfIt) {
  Json vocab;
  for (int byte = 0; byte < 256; ++byte) {
    constexpr const char* kDigits = "0123456789ABCDEF";
    vocab[std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">"] = byte;
  }
  Json bpe = by_characters(nullptr, nullptr, {{"byte_fallback", true}, {"unk_token", nullptr}, {"vocab", vocab}});
  EXPECT_EQ(pieces_of(bpe, "é"), (Pieces{"é", "é"}));
  // Unigram's unknown characters are one token first.
  Json entries = Json::array({Json::array({"<unk>", 0.0}), Json::array({"a", -1.0})});
  for (const auto& [token, id] : vocab.items())
    entries.push_back(Json::array({token, -20.0}));
  const Json unigram = {{"version", "1.0"},
                        {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"byte_fallback", true}, {"vocab", entries}}}};
  EXPECT_EQ(pieces_of(unigram, "aéü"), (Pieces{"a", "éü", "éü", "éü", "éü"}));

  bpe["model"]["end_of_word_suffix"] = "</w>";
  const auto tokenizer = testing::open(bpe);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  std::vector<std::int32_t> ids;
  std::vector<TokenOffsets> offsets;
  const auto status = tokenizer->encode_with_offsets("é", kWholeText, Cut::kEnd, ids, offsets);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("model.byte_fallback with a"));
  EXPECT_TRUE(ids.empty() && offsets.empty());
}

// The space that a token begins with, as it is written; and one that was added.
TEST(OffsetsTest, PostProcessorsTrimSpaces) {
  Json vocab = {{"?", 0}, {"Ġa", 1}, {"Ġ", 2}, {"a", 3}, {"<m>", 4}, {"ĠĠ", 5}};
  Json file = by_characters(nullptr, {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", false}},
                            {{"vocab", vocab}, {"merges", {"Ġ a", "Ġ Ġ"}}});
  Json mask = testing::added_token("<m>", 4);
  mask["lstrip"] = true;
  file["added_tokens"] = {mask};
  const std::string_view text = "a a  <m>";
  EXPECT_EQ(token_places(file, text), (Places{{0, 1}, {1, 3}, {3, 8}}));
  const auto roberta = [](bool trims, bool add_prefix_space) {
    return Json{{"type", "RobertaProcessing"},
                {"sep", {"a", 3}},
                {"cls", {"a", 3}},
                {"trim_offsets", trims},
                {"add_prefix_space", add_prefix_space}};
  };
  file["post_processor"] = roberta(false, true);
  EXPECT_EQ(token_places(file, text), (Places{{0, 0}, {0, 1}, {1, 3}, {3, 8}, {0, 0}}));
  file["post_processor"] = roberta(true, true);
  EXPECT_EQ(token_places(file, text), (Places{{0, 0}, {0, 1}, {2, 3}, {5, 8}, {0, 0}}));
  file["post_processor"] = roberta(true, false);
  EXPECT_EQ(token_places(file, text), (Places{{0, 0}, {1, 1}, {2, 3}, {5, 8}, {0, 0}}));
  file["post_processor"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}};
  EXPECT_EQ(token_places(file, text), (Places{{0, 1}, {2, 3}, {5, 8}}));
  EXPECT_EQ(token_places(file, text, 1, Cut::kBeginning), (Places{{5, 8}}));
  // The second token comes first, and its space counts as added.
  EXPECT_EQ(token_places(file, "a a", 1, Cut::kBeginning), (Places{{1, 3}}));
  EXPECT_EQ(token_places(file, "   "), (Places{{2, 2}, {3, 3}}));
  file["post_processor"] = {{"type", "Sequence"}, {"processors", {roberta(false, true), file["post_processor"]}}};
  EXPECT_EQ(token_places(file, "a a", 3, Cut::kBeginning), (Places{{0, 0}, {2, 3}, {0, 0}}));
}

TEST(OffsetsTest, IdsAreThoseOfTheOtherWay) {
  for (const char* name : {"all-MiniLM-L6-v2.jsonl", "unigram.jsonl"}) {
    const auto file = std::string_view(name).starts_with("all") ? testing::model_tokenizer_file()
                                                                : testing::recorded_file("unigram.json");
    const auto tokenizer = Tokenizer::from_file(file);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    for (const auto& [text, ids] : testing::recorded_texts(name)) {
      std::vector<std::int32_t> found;
      std::vector<TokenOffsets> offsets;
      ASSERT_TRUE(tokenizer->encode_with_offsets(text, kWholeText, Cut::kEnd, found, offsets).ok());
      ASSERT_EQ(found, ids) << text;
      ASSERT_EQ(offsets.size(), ids.size());
      for (const auto& [begin, end] : offsets) {
        ASSERT_LE(begin, end);
        ASSERT_LE(end, text.size());
        ASSERT_FALSE(begin < text.size() && core::is_utf8_continuation(text[begin]));
        ASSERT_FALSE(end < text.size() && core::is_utf8_continuation(text[end]));
      }
    }
  }
}

TEST(OffsetsTest, WhatWasThereStaysThere) {
  const auto tokenizer = testing::open(testing::small_tokenizer());
  ASSERT_TRUE(tokenizer.ok());
  std::vector<std::int32_t> ids{7};
  std::vector<TokenOffsets> offsets{{1, 2}, {3, 4}};
  EXPECT_EQ(tokenizer->encode_with_offsets("\xff", 8, Cut::kEnd, ids, offsets).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(tokenizer->encode_with_offsets("a", 1, Cut::kEnd, ids, offsets).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(offsets.size(), 2U);
  ASSERT_TRUE(tokenizer->encode_with_offsets("a", 8, Cut::kEnd, ids, offsets).ok());
  EXPECT_EQ(ids, (std::vector<std::int32_t>{7, 2, 10, 3}));
  EXPECT_EQ(offsets, (std::vector<TokenOffsets>{{1, 2}, {3, 4}, {0, 0}, {0, 1}, {0, 0}}));
}

}  // namespace
}  // namespace latebind::embedding
