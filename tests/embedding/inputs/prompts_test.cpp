#include "embedding/inputs/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedding/pipeline.h"
#include "tests/embedding/toy_encoder.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const Prompts kPrompts{.by_name = {{"query", "a "}, {"none", ""}}, .by_default = "a "};

TEST(PromptsTest, ACallTakesTheDefaultOrWhatItNames) {
  EXPECT_EQ(*kPrompts.choose({}), "a ");
  EXPECT_EQ(*kPrompts.choose({.text = ""}), "");
  EXPECT_EQ(*kPrompts.choose({.text = "b "}), "b ");
  EXPECT_EQ(*kPrompts.choose({.name = "none"}), "");
  EXPECT_EQ(*Prompts().choose({}), "");
}

TEST(PromptsTest, ARoleMeansThePromptOfItsNameUnlessThereIsAChoice) {
  EXPECT_EQ(*kPrompts.choose({}, TextRole::kQuery), "a ");
  // The default is for texts of which nothing is said.
  EXPECT_EQ(*kPrompts.choose({}, TextRole::kDocument), "");
  EXPECT_EQ(*kPrompts.choose({.text = "b "}, TextRole::kQuery), "b ");
  EXPECT_EQ(*kPrompts.choose({.name = "none"}, TextRole::kQuery), "");
  const Prompts both{.by_name = {{"corpus", "c "}, {"passage", "p "}}};
  EXPECT_EQ(*both.choose({}, TextRole::kDocument), "p ");
  EXPECT_EQ(*both.choose({}, TextRole::kQuery), "");
}

TEST(PromptsTest, WhatCannotBePutBeforeTextsIsRefused) {
  const auto refusal = [](const PromptChoice& choice) {
    const auto chosen = kPrompts.choose(choice);
    EXPECT_EQ(chosen.status().code(), StatusCode::kInvalidArgument);
    return chosen.status().to_string();
  };
  EXPECT_THAT(refusal({.name = "other"}), HasSubstr("no prompt 'other'; it has: none, query"));
  EXPECT_THAT(refusal({.text = "x", .name = "query"}), HasSubstr("give one of them"));
  EXPECT_THAT(refusal({.text = "x\xc3"}), HasSubstr("the prompt is not UTF-8 at byte 1"));
  EXPECT_THAT(Prompts().choose({.name = "query"}).status().to_string(), HasSubstr("it has: none"));
}

TEST(PromptsTest, TokensOfAPromptAreCountedWithoutALastSpecialOne) {
  const auto tokenizer = test::toy_tokenizer();
  EXPECT_EQ(*count_prompt_tokens("a word ", tokenizer, 8), 3U);
  EXPECT_EQ(*count_prompt_tokens("a word a word a word", tokenizer, 4), 3U) << "as much as is taken";
  EXPECT_EQ(count_prompt_tokens("\xff", tokenizer, 8).status().code(), StatusCode::kInvalidArgument);
}

class PromptedPipelineTest : public ::testing::Test {
 protected:
  PromptedPipelineTest() {
    auto forward = Forward::bind(test::toy_model({.requests = 1}), test::toy_output({.normalize = true}));
    EXPECT_TRUE(forward.ok()) << forward.status().to_string();
    pipeline_ = std::make_unique<Pipeline>(test::toy_tokenizer(), *std::move(forward), TokenLimits{.max_tokens = 8}, 64,
                                           Scheduler::OnBatch(), kPrompts);
  }
  // The ids of a text; those of an error are none.
  std::vector<std::int32_t> ids_of(std::string_view text, const TextOptions& options = {}) {
    const auto limits = pipeline_->limits_of(options);
    EXPECT_TRUE(limits.ok()) << limits.status().to_string();
    TokenTable table;
    status_ = pipeline_->tokenize(text, *limits, 0, table);
    if (!status_.ok()) return {};
    return {table.ids(0).begin(), table.ids(0).end()};
  }

  std::unique_ptr<Pipeline> pipeline_;
  core::Status status_;
};

TEST_F(PromptedPipelineTest, TheDefaultIsBeforeEveryTextThatIsNoIds) {
  const auto alone = ids_of("word", {.prompt = {.text = ""}});
  EXPECT_EQ(alone.size(), 3U);
  const auto prompted = ids_of("word");
  EXPECT_EQ(prompted.size(), 4U);
  EXPECT_THAT(ids_of("word", {.prompt = {.name = "query"}}), ElementsAreArray(prompted));
  EXPECT_THAT(ids_of("a word", {.prompt = {.name = "none"}}), ElementsAreArray(prompted));

  TokenTable table;
  const std::vector<Ids> given{alone};
  const InputList list = std::span<const Ids>(given);
  ASSERT_TRUE(pipeline_->tokenize(list, *pipeline_->limits_of({}), 0, {}, table).ok());
  EXPECT_THAT(table.ids(0), ElementsAreArray(alone));
  EXPECT_TRUE(pipeline_->limits_of({.prompt = {.text = ""}}, list).ok());
  for (const PromptChoice& choice : {PromptChoice{.text = "x"}, PromptChoice{.name = "query"}}) {
    EXPECT_THAT(pipeline_->limits_of({.prompt = choice}, list).status().to_string(), HasSubstr("not before token ids"));
  }
}

TEST_F(PromptedPipelineTest, APromptCountsAsTokensOfItsText) {
  EXPECT_EQ(ids_of("word word", {.max_tokens = 4}).size(), 4U);
  EXPECT_TRUE(ids_of("word word", {.max_tokens = 4, .refuse_longer = true}).empty());
  EXPECT_EQ(status_.code(), StatusCode::kTextTooLong);
}

TEST_F(PromptedPipelineTest, ABadByteIsNamedByItsPlaceInTheText) {
  EXPECT_TRUE(ids_of("word\xc3").empty());
  EXPECT_THAT(status_.to_string(), HasSubstr("not UTF-8 at byte 4"));
}

}  // namespace
}  // namespace latebind::embedding
