// Two texts as one row of ids: templates of pairs, types, and how they are cut, as the reference has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/embedding/tokenizer/small_tokenizer.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::HasSubstr;
using testing::small_tokenizer;
using PairIds = std::vector<std::int32_t>;

// Of the second text or behind it.
json typed(const char* kind, const char* id, int type) {
  return {{kind, {{"id", id}, {"type_id", type}}}};
}

json pair_tokenizer() {
  json file = small_tokenizer();
  file["post_processor"]["pair"] = {typed("SpecialToken", "[CLS]", 0), typed("Sequence", "A", 0),
                                    typed("SpecialToken", "[SEP]", 0), typed("Sequence", "B", 1),
                                    typed("SpecialToken", "[SEP]", 1)};
  return file;
}

struct Encoded {
  PairIds ids{};
  std::size_t type_one_from = 0;
  bool is_cut = false;
};
Encoded encode_pair(const json& file, std::string_view first, std::string_view second, const PairLimits& limits) {
  const auto tokenizer = testing::open(file);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  Encoded encoded{.ids = {9}};
  const auto pair = tokenizer->encode_pair(first, second, limits, encoded.ids);
  EXPECT_TRUE(pair.ok()) << pair.status().to_string();
  EXPECT_EQ(encoded.ids.front(), 9);
  encoded.ids.erase(encoded.ids.begin());
  if (pair.ok()) encoded.type_one_from = pair->type_one_from;
  if (pair.ok()) encoded.is_cut = pair->is_cut;
  return encoded;
}

core::Status refusal_of_pair(const json& file, const PairLimits& limits = {.max_tokens = 20}) {
  const auto tokenizer = testing::open(file);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  PairIds ids{9};
  const auto status = tokenizer->encode_pair("hello", "world", limits, ids).status();
  EXPECT_EQ(ids, PairIds{9});
  return status;
}

TEST(PairTest, EveryPostProcessorHasItsOwnTemplate) {
  const PairLimits limits{.max_tokens = 20};
  const auto expect = [&](const json& file, const PairIds& ids, std::size_t type_one_from) {
    const Encoded found = encode_pair(file, "hello", "world world", limits);
    EXPECT_EQ(found.ids, ids) << file["post_processor"];
    EXPECT_EQ(found.type_one_from, type_one_from) << file["post_processor"];
    EXPECT_FALSE(found.is_cut);
  };
  json file = pair_tokenizer();
  expect(file, {2, 7, 3, 8, 8, 3}, 3);
  file["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}};
  expect(file, {2, 7, 3, 8, 8, 3}, 3);
  file["post_processor"] = {{"type", "RobertaProcessing"},
                            {"sep", {"[SEP]", 3}},
                            {"cls", {"[CLS]", 2}},
                            {"trim_offsets", true},
                            {"add_prefix_space", false}};
  expect(file, {2, 7, 3, 3, 8, 8, 3}, 7);
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  file["post_processor"] = byte_level;
  expect(file, {7, 8, 8}, 1);
  file["post_processor"] = nullptr;
  expect(file, {7, 8, 8}, 1);
  const json whole = pair_tokenizer();
  file["post_processor"] = {{"type", "Sequence"}, {"processors", {byte_level, whole["post_processor"]}}};
  expect(file, {2, 7, 3, 8, 8, 3}, 3);
  // The type changes before the token between the texts, or never.
  file = pair_tokenizer();
  file["post_processor"]["pair"][2] = typed("SpecialToken", "[SEP]", 1);
  expect(file, {2, 7, 3, 8, 8, 3}, 2);
  for (json& one : file["post_processor"]["pair"])
    one.begin().value()["type_id"] = 0;
  expect(file, {2, 7, 3, 8, 8, 3}, 6);
}

TEST(PairTest, IsCutAsTheReferenceCuts) {
  constexpr int kRefused = -1;
  struct Case {
    PairTruncation truncation;
    int first, second, max_tokens, first_kept, second_kept;
  };
  // Recorded with BertProcessing of tokenizers 0.23.3: words of each text, the limit, and those that stay.
  const Case cases[] = {
      {PairTruncation::kLongestFirst, 3, 9, 11, 3, 5},      {PairTruncation::kLongestFirst, 2, 5, 12, 2, 5},
      {PairTruncation::kLongestFirst, 7, 9, 4, 0, 1},       {PairTruncation::kLongestFirst, 9, 0, 10, 7, 0},
      {PairTruncation::kLongestFirst, 4, 8, 6, 1, 2},       {PairTruncation::kLongestFirst, 3, 7, 11, 3, 5},
      {PairTruncation::kLongestFirst, 8, 7, 9, 3, 3},       {PairTruncation::kLongestFirst, 2, 3, 5, 1, 1},
      {PairTruncation::kLongestFirst, 1, 2, 12, 1, 2},      {PairTruncation::kLongestFirst, 4, 7, 12, 4, 5},
      {PairTruncation::kLongestFirst, 6, 6, 9, 3, 3},       {PairTruncation::kLongestFirst, 9, 7, 5, 1, 1},
      {PairTruncation::kLongestFirst, 2, 7, 6, 1, 2},       {PairTruncation::kLongestFirst, 8, 7, 6, 2, 1},
      {PairTruncation::kLongestFirst, 7, 8, 6, 1, 2},       {PairTruncation::kLongestFirst, 9, 8, 4, 1, 0},
      {PairTruncation::kLongestFirst, 8, 8, 4, 0, 1},       {PairTruncation::kOnlyFirst, 4, 6, 7, kRefused, 0},
      {PairTruncation::kOnlyFirst, 6, 8, 9, kRefused, 0},   {PairTruncation::kOnlyFirst, 9, 5, 11, 3, 5},
      {PairTruncation::kOnlyFirst, 9, 6, 12, 3, 6},         {PairTruncation::kOnlyFirst, 4, 9, 5, kRefused, 0},
      {PairTruncation::kOnlyFirst, 5, 8, 12, 1, 8},         {PairTruncation::kOnlyFirst, 9, 1, 6, 2, 1},
      {PairTruncation::kOnlyFirst, 9, 4, 7, kRefused, 0},   {PairTruncation::kOnlyFirst, 1, 1, 10, 1, 1},
      {PairTruncation::kOnlyFirst, 7, 1, 8, 4, 1},          {PairTruncation::kOnlyFirst, 1, 6, 5, kRefused, 0},
      {PairTruncation::kOnlyFirst, 0, 4, 9, 0, 4},          {PairTruncation::kOnlyFirst, 6, 9, 8, kRefused, 0},
      {PairTruncation::kOnlySecond, 8, 4, 11, kRefused, 0}, {PairTruncation::kOnlySecond, 3, 0, 7, 3, 0},
      {PairTruncation::kOnlySecond, 0, 1, 4, 0, 1},         {PairTruncation::kOnlySecond, 3, 6, 7, 3, 1},
      {PairTruncation::kOnlySecond, 9, 4, 5, kRefused, 0},  {PairTruncation::kOnlySecond, 0, 5, 8, 0, 5},
      {PairTruncation::kOnlySecond, 5, 2, 9, 5, 1},         {PairTruncation::kOnlySecond, 6, 7, 11, 6, 2},
      {PairTruncation::kOnlySecond, 6, 9, 11, 6, 2},        {PairTruncation::kOnlySecond, 1, 9, 11, 1, 7},
      {PairTruncation::kOnlySecond, 4, 6, 6, kRefused, 0},  {PairTruncation::kOnlySecond, 4, 6, 7, kRefused, 0},
  };
  const auto words = [](const char* word, int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += std::string(word) + " ";
    return text;
  };
  const auto tokenizer = testing::open(pair_tokenizer());
  ASSERT_TRUE(tokenizer.ok());
  for (const Case& one : cases) {
    SCOPED_TRACE(::testing::Message() << static_cast<int>(one.truncation) << " " << one.first << " " << one.second
                                      << " " << one.max_tokens);
    for (const bool keep_end : {false, true}) {
      PairIds ids;
      const auto pair = tokenizer->encode_pair(
          words("hello", one.first), words("world", one.second),
          {.max_tokens = static_cast<std::size_t>(one.max_tokens), .truncation = one.truncation, .keep_end = keep_end},
          ids);
      if (one.first_kept == kRefused) {
        EXPECT_EQ(pair.status().code(), StatusCode::kTextTooLong);
        EXPECT_TRUE(ids.empty());
        continue;
      }
      ASSERT_TRUE(pair.ok()) << pair.status().to_string();
      EXPECT_EQ(std::ranges::count(ids, 7), one.first_kept);
      EXPECT_EQ(std::ranges::count(ids, 8), one.second_kept);
      EXPECT_EQ(pair->is_cut, one.first_kept < one.first || one.second_kept < one.second);
      EXPECT_EQ(pair->type_one_from, static_cast<std::size_t>(one.first_kept) + 2);
    }
  }
}

TEST(PairTest, TheEndOrTheBeginningStays) {
  const json file = pair_tokenizer();
  PairLimits limits{.max_tokens = 6};
  EXPECT_EQ(encode_pair(file, "hello hello", "hello world world", limits).ids, (PairIds{2, 7, 3, 7, 8, 3}));
  limits.keep_end = true;
  EXPECT_EQ(encode_pair(file, "world hello", "hello world world", limits).ids, (PairIds{2, 7, 3, 8, 8, 3}));
}

TEST(PairTest, RefusesByName) {
  json file = small_tokenizer();
  EXPECT_THAT(refusal_of_pair(file).to_string(), HasSubstr("post_processor.pair is without the sequences 'A' and 'B'"));
  file["post_processor"].erase("pair");
  EXPECT_THAT(refusal_of_pair(file).to_string(), HasSubstr("post_processor has no 'pair'"));
  const auto with = [](std::size_t place, json other) {
    json changed = pair_tokenizer();
    changed["post_processor"]["pair"][place] = std::move(other);
    return refusal_of_pair(changed);
  };
  EXPECT_THAT(with(1, typed("Sequence", "B", 0)).to_string(), HasSubstr("post_processor.pair[1] is sequence 'B'"));
  EXPECT_THAT(with(3, typed("Sequence", "A", 1)).to_string(), HasSubstr("post_processor.pair[3] is sequence 'A'"));
  EXPECT_THAT(with(0, typed("SpecialToken", "[CLS]", 1)).to_string(), HasSubstr("pair[0] has type_id 1"));
  EXPECT_THAT(with(1, typed("Sequence", "A", 1)).to_string(), HasSubstr("pair[1] has type_id 1"));
  EXPECT_THAT(with(3, typed("Sequence", "B", 0)).to_string(), HasSubstr("pair[4] has type_id 1"));
  EXPECT_THAT(with(4, typed("SpecialToken", "[SEP]", 0)).to_string(), HasSubstr("pair[4] has type_id 0"));
  EXPECT_THAT(with(0, typed("SpecialToken", "[X]", 0)).to_string(), HasSubstr("special_tokens['[X]'] is missing"));
  EXPECT_THAT(refusal_of_pair(pair_tokenizer(), {.max_tokens = 2}).to_string(), HasSubstr("leaves no room for the 3"));
}

TEST(PairTest, NamesTheTextThatIsNotUtf8) {
  const auto tokenizer = testing::open(pair_tokenizer());
  PairIds ids{9};
  const PairLimits limits{.max_tokens = 20};
  EXPECT_THAT(tokenizer->encode_pair("\xff", "a", limits, ids).status().to_string(), HasSubstr("the first text"));
  EXPECT_THAT(tokenizer->encode_pair("a", "\xff", limits, ids).status().to_string(), HasSubstr("the second text"));
  EXPECT_EQ(ids, PairIds{9});
}

}  // namespace
}  // namespace latebind::embedding
