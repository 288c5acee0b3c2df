// Every recorded reranker that is a language model, from its folder to its numbers, against what sentence-transformers
// predicts (tests/data/rerankers/make.py), on the tests' evaluator: the tokens of each row, and its score.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/inputs/text_options.h"
#include "embedding/inputs/token_table.h"
#include "embedding/outputs/score.h"
#include "embedding/tokenizer/tokenizer.h"
#include "kit/reference/evaluator.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;

std::filesystem::path rerankers_folder() {
  return testing::data_folder() / "rerankers";
}

const json& recorded() {
  static const json document = json::parse(testing::read_file(rerankers_folder() / "expected.json"));
  return document;
}

class RerankerTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto folder = ModelFolder::open(rerankers_folder() / GetParam());
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    folder_.emplace(*std::move(folder));
    auto tokenizer = model().open_tokenizer();
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    tokenizer_.emplace(*std::move(tokenizer));
  }

  [[nodiscard]] const Specification& model() const { return folder_->documents(); }
  [[nodiscard]] const json& expected() const { return recorded()["models"][GetParam()]; }

  struct Rows {
    TokenTable table{};
    std::vector<std::size_t> pairs{};  // their numbers in expected.json
  };
  // Adds the pairs, except those that are refused. These must be the ones whose numbers do not depend on the document
  // in the reference, which computes them nevertheless.
  [[nodiscard]] Rows rows(const PromptChoice& prompt, const char* key) const {
    Rows rows;
    const auto limits = text_limits(model(), 0);
    EXPECT_TRUE(limits.ok());
    const auto of_call = limits->of_call({.prompt = prompt}, model().input.prompts);
    EXPECT_TRUE(of_call.ok()) << of_call.status().to_string();
    const json& pairs = recorded()["pairs"];
    const json& numbers = expected()[key];
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto first = pairs[i][0].get<std::string>();
      const auto second = pairs[i][1].get<std::string>();
      bool is_without_document = false;
      for (std::size_t other = 0; other < pairs.size(); ++other)
        is_without_document = is_without_document ||
                              (pairs[other][0] == first && pairs[other][1] != second && numbers[other] == numbers[i]);
      const auto status = rows.table.add(*tokenizer_, *of_call, TextPair{first, second});
      if (status.ok()) rows.pairs.push_back(i);
      EXPECT_EQ(status.ok(), !is_without_document) << pairs[i] << " " << status.to_string();
      if (status.ok()) continue;
      EXPECT_EQ(status.code(), core::StatusCode::kInvalidArgument);
      EXPECT_THAT(status.to_string(), ::testing::HasSubstr("leave none of the second text"));
    }
    return rows;
  }

  // The numbers of all rows in one batch, which is padded at the end.
  [[nodiscard]] std::vector<float> compute(const TokenTable& table) const {
    const auto lengths = table.lengths();
    const std::size_t width = *std::ranges::max_element(lengths);
    kit::Array ids{};
    kit::Array mask{};
    for (auto* array : {&ids, &mask})
      array->shape = {static_cast<std::int64_t>(table.size()), static_cast<std::int64_t>(width)};
    for (std::size_t row = 0; row < table.size(); ++row) {
      for (std::size_t i = 0; i < width; ++i) {
        const bool is_token = i < table.ids(row).size();
        ids.values.push_back(is_token ? static_cast<float>(table.ids(row)[i]) : 7);
        mask.values.push_back(is_token ? 1 : 0);
      }
    }
    const auto graph = make_graph(model());
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    if (!graph.ok()) return {};
    const auto numbers = kit::evaluate(*graph, {{"input_ids", ids}, {"attention_mask", mask}});
    return {numbers.values.begin(), numbers.values.end()};
  }

  void expect_numbers(const PromptChoice& prompt, const char* key) const {
    const Rows given = rows(prompt, key);
    const std::vector<float> numbers = compute(given.table);
    ASSERT_EQ(numbers.size(), given.pairs.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t pair = given.pairs[i];
      EXPECT_NEAR(numbers[i], expected()[key][pair].get<double>(), 1e-5) << key << " " << recorded()["pairs"][pair];
    }
  }

 private:
  std::optional<ModelFolder> folder_;
  std::optional<Tokenizer> tokenizer_;
};

TEST_P(RerankerTest, HasTheReferencesTokensInEachRow) {
  const auto [table, pairs] = rows({}, "logits");
  EXPECT_GT(table.truncated(), 0U);
  // The tokenizer of a model without a template leaves tokens of both texts.
  EXPECT_EQ(pairs.size() < recorded()["pairs"].size(), model().input.frame != nullptr);
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto wanted = expected()["ids"][pairs[row]].get<std::vector<std::int32_t>>();
    EXPECT_THAT(table.ids(row), ::testing::ElementsAreArray(wanted)) << recorded()["pairs"][pairs[row]];
  }
}

TEST_P(RerankerTest, GivesTheReferencesNumbers) {
  expect_numbers({}, "logits");
}

TEST_P(RerankerTest, TakesAnInstruction) {
  const auto instruction = recorded()["instruction"].get<std::string>();
  expect_numbers({.text = instruction}, "instructed");
  expect_numbers({.text = ""}, "uninstructed");
}

TEST_P(RerankerTest, HasTheFunctionOfItsFiles) {
  const auto* const output = as<ScoreOutput>(model().output());
  ASSERT_NE(output, nullptr);
  EXPECT_THAT(output->labels(), ::testing::ElementsAre("LABEL_0"));
  std::vector<float> first = {expected()["logits"][0].get<float>()};
  output->activate(first);
  EXPECT_NEAR(first[0], expected()["scores"][0].get<double>(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, RerankerTest, ::testing::Values("gemma", "llama", "mistral", "qwen2", "qwen3"),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace latebind::embedding
