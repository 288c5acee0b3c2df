// Every recorded cross-encoder, from its folder to its numbers, against what sentence-transformers predicts
// (tests/data/cross_encoders/make.py): all labels, on the tests' evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/inputs/token_table.h"
#include "embedding/outputs/score.h"
#include "embedding/tokenizer/tokenizer.h"
#include "kit/reference/evaluator.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;

std::filesystem::path encoders_folder() {
  return testing::data_folder() / "cross_encoders";
}

const json& recorded_pairs() {
  static const json document = json::parse(testing::read_file(encoders_folder() / "expected.json"));
  return document;
}

// All pairs in one batch, padded at their ends with ids and types that would be seen if the mask did not hide them.
struct BatchOfPairs {
  kit::Array ids{};
  kit::Array mask{};
  kit::Array types{};
};
BatchOfPairs batch_of(const TokenTable& table) {
  const auto lengths = table.lengths();
  const std::size_t width = *std::ranges::max_element(lengths);
  BatchOfPairs batch;
  for (auto* array : {&batch.ids, &batch.mask, &batch.types})
    array->shape = {static_cast<std::int64_t>(table.size()), static_cast<std::int64_t>(width)};
  for (std::size_t text = 0; text < table.size(); ++text) {
    const auto ids = table.ids(text);
    for (std::size_t i = 0; i < width; ++i) {
      const bool is_token = i < ids.size();
      batch.ids.values.push_back(is_token ? ids[i] : 7);
      batch.mask.values.push_back(is_token ? 1 : 0);
      batch.types.values.push_back(!is_token || i >= table.type_one_from(text) ? 1 : 0);
    }
  }
  return batch;
}

class CrossEncoderFolderTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CrossEncoderFolderTest, GivesTheReferencesNumbers) {
  const auto folder = ModelFolder::open(encoders_folder() / GetParam());
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  const Specification& model = folder->documents();
  const auto* const output = as<ScoreOutput>(model.output());
  ASSERT_NE(output, nullptr);
  const auto tokenizer = model.open_tokenizer();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  const json& expected = recorded_pairs()["logits"][GetParam()];
  TokenTable table;
  for (const json& pair : recorded_pairs()["pairs"]) {
    const auto first = pair[0].get<std::string>();
    const auto second = pair[1].get<std::string>();
    const auto status =
        table.add(*tokenizer, {.max_tokens = model.input.max_tokens, .token_types = model.input.token_types},
                  TextPair{first, second});
    ASSERT_TRUE(status.ok()) << status.to_string();
  }
  ASSERT_EQ(table.size(), expected.size());
  EXPECT_GT(table.truncated(), 0U);
  const auto graph = make_graph(model);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const BatchOfPairs batch = batch_of(table);
  const auto numbers = kit::evaluate(
      *graph, {{"input_ids", batch.ids}, {"attention_mask", batch.mask}, {"token_type_ids", batch.types}});
  const std::size_t labels = output->labels().size();
  ASSERT_EQ(numbers.values.size(), table.size() * labels);
  for (std::size_t row = 0; row < expected.size(); ++row) {
    ASSERT_EQ(expected[row].size(), labels);
    for (std::size_t label = 0; label < labels; ++label)
      EXPECT_NEAR(numbers.values[row * labels + label], expected[row][label].get<double>(), 1e-5)
          << row << " " << label;
  }
  // The function of their files makes the reference's scores of them.
  const json& scores = recorded_pairs()["scores"][GetParam()];
  const double first = numbers.values.front();
  const bool is_sigmoid = output->function() == ScoreFunction::kSigmoid;
  EXPECT_NEAR(is_sigmoid ? 1 / (1 + std::exp(-first)) : first, scores[0][0].get<double>(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, CrossEncoderFolderTest,
                         ::testing::Values("albert", "bert", "bert_typeless", "deberta", "deberta_v2", "dense",
                                           "distilbert", "electra", "gte", "jina_roberta", "modernbert", "mpnet",
                                           "qwen3", "roberta", "saved"),
                         [](const auto& given) { return given.param; });

TEST(CrossEncoderScoresTest, AreThoseOfTheFunction) {
  const std::array numbers{-40.0F, -1.5F, 0.0F, 0.25F, 30.0F};
  for (const auto function : {ScoreFunction::kIdentity, ScoreFunction::kSigmoid, ScoreFunction::kTanh}) {
    std::array scores = numbers;
    ScoreOutput({.function = function}).activate(scores);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double x = numbers[i];
      const double wanted = function == ScoreFunction::kTanh      ? std::tanh(x)
                            : function == ScoreFunction::kSigmoid ? 1 / (1 + std::exp(-x))
                                                                  : x;
      EXPECT_NEAR(scores[i], wanted, 1e-6);
    }
  }
}

TEST(CrossEncoderLabelsTest, EveryRecordedOneIsTried) {
  EXPECT_EQ(recorded_pairs()["logits"].size(), 15U);
  const auto roberta = ModelFolder::open(encoders_folder() / "roberta");
  ASSERT_TRUE(roberta.ok());
  EXPECT_THAT(as<ScoreOutput>(roberta->documents().output())->labels(),
              ::testing::ElementsAre("contradiction", "entailment", "neutral"));
}

}  // namespace
}  // namespace latebind::embedding
