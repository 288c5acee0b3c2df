// Every recorded sparse encoder, from its folder to its weights, against what sentence-transformers gives
// (tests/data/sparse_encoders/make.py), on the tests' evaluator.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/inputs/token_table.h"
#include "embedding/outputs/sparse.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;

std::filesystem::path sparse_folder() {
  return testing::data_folder() / "sparse_encoders";
}

const json& recorded_sparse() {
  static const json document = json::parse(testing::read_file(sparse_folder() / "expected.json"));
  return document;
}

class SparseEncoderFolderTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SparseEncoderFolderTest, GivesTheReferencesWeights) {
  const auto folder = ModelFolder::open(sparse_folder() / GetParam());
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  const Specification& model = folder->documents();
  const auto* const output = as<SparseOutput>(model.output());
  ASSERT_NE(output, nullptr);
  const auto tokenizer = model.open_tokenizer();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  TokenTable table;
  json ids = json::array();
  for (const json& text : recorded_sparse()["texts"]) {
    const auto status = table.add(*tokenizer, {.max_tokens = model.input.max_tokens}, text.get<std::string>());
    ASSERT_TRUE(status.ok()) << status.to_string();
    ids.push_back(table.ids(table.size() - 1));
  }
  const auto graph = make_graph(model);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const bool sums = output->rule().sums;
  const bool is_plain = output->rule().plain;
  EXPECT_EQ(graph->output_name(), is_plain ? "sentence_embedding" : sums ? "logits" : "term_logits");
  const testing::BatchOfTexts batch = testing::batch_of(ids);
  const auto logits = testing::vectors_of(*graph, batch);
  const json& expected = recorded_sparse()["vectors"][GetParam()];
  const core::Shape& shape = graph->node(graph->output()).shape;
  const auto vocabulary = static_cast<std::size_t>(shape[shape.rank() - 1]);
  const std::size_t of_text = vocabulary * (sums ? batch.ids.shape[1] : 1);
  ASSERT_EQ(logits.values.size(), expected.size() * of_text);
  ASSERT_FALSE(expected.empty());
  for (std::size_t text = 0; text < expected.size(); ++text) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < (sums ? ids[text].size() : 1) * vocabulary; ++i)
      numbers.push_back(static_cast<float>(logits.values[text * of_text + i]));
    SparseVector weights;
    if (sums) {
      std::vector<float> sum(vocabulary);
      sum_sparse(numbers, output->rule(), sum, weights);
    } else {
      read_sparse(numbers, output->rule(), weights);
    }
    EXPECT_EQ(json(weights.indices), expected[text]["indices"]) << text;
    ASSERT_EQ(weights.values.size(), expected[text]["values"].size()) << text;
    for (std::size_t i = 0; i < weights.values.size(); ++i)
      EXPECT_NEAR(weights.values[i], expected[text]["values"][i].get<float>(), 1e-5F) << text << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SparseEncoderFolderTest,
                         ::testing::Values("albert", "bert", "deberta", "deberta_v2", "distilbert", "electra", "gte",
                                           "latents", "modernbert", "mpnet", "roberta", "sum", "untied"),
                         [](const auto& given) { return given.param; });

TEST(SparseEncoderDataTest, EveryRecordedOneIsTried) {
  EXPECT_EQ(recorded_sparse()["vectors"].size(), 11U);
}

}  // namespace
}  // namespace latebind::embedding
