// Every recorded multi-vector encoder, from its folder to its vectors, against what sentence-transformers gives
// (tests/data/multi_vector_encoders/make.py), on the tests' evaluator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/outputs/multi_vector.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;

std::filesystem::path multi_vector_folder() {
  return testing::data_folder() / "multi_vector_encoders";
}

const json& recorded_multi_vectors() {
  static const json document = json::parse(testing::read_file(multi_vector_folder() / "expected.json"));
  return document;
}

class MultiVectorFolderTest : public ::testing::TestWithParam<std::string> {
 protected:
  using Vectors = std::vector<std::vector<float>>;

  // The vectors of all recorded texts as these, one list for each text.
  std::vector<Vectors> vectors_of(const TokenLimits& limits) const {
    TokenTable table;
    json ids = json::array();
    for (const json& text : recorded_multi_vectors()["texts"]) {
      const auto status = table.add(*tokenizer_, limits, text.get<std::string>());
      EXPECT_TRUE(status.ok()) << status.to_string();
      ids.push_back(table.ids(table.size() - 1));
    }
    const auto graph = make_graph(*model_);
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    EXPECT_EQ(graph->output_name(), "token_vectors");
    auto batch = testing::batch_of(ids);
    const auto width = static_cast<std::size_t>(batch.mask.shape[1]);
    for (std::size_t text = 0; text < table.size(); ++text) {
      for (std::size_t t = table.unattended_from(text); t < table.lengths()[text]; ++t)
        batch.mask.values[text * width + t] = graph::kUnattended;
    }
    const auto found = testing::vectors_of(*graph, batch);
    const std::size_t dimension = output().dimension();
    EXPECT_EQ(found.shape[2], static_cast<std::int64_t>(dimension));
    std::vector<Vectors> texts(table.size());
    for (std::size_t text = 0; text < table.size(); ++text) {
      for (std::size_t t = 0; t < table.lengths()[text]; ++t) {
        if (!table.kept(text).empty() && table.kept(text)[t] == 0) continue;
        const auto from = found.values.begin() + static_cast<std::ptrdiff_t>((text * width + t) * dimension);
        texts[text].emplace_back(from, from + static_cast<std::ptrdiff_t>(dimension));
      }
      EXPECT_EQ(texts[text].size(), table.vector_counts()[text]);
    }
    return texts;
  }

  void open() {
    auto folder = ModelFolder::open(multi_vector_folder() / GetParam());
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    model_ = std::make_unique<Specification>(folder->documents());
    ASSERT_NE(as<MultiVectorOutput>(model_->output()), nullptr);
    auto tokenizer = model_->open_tokenizer();
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    tokenizer_ = std::make_unique<Tokenizer>(*std::move(tokenizer));
    auto limits = text_limits(*model_, 0);
    ASSERT_TRUE(limits.ok()) << limits.status().to_string();
    limits_ = *std::move(limits);
    const auto set = set_roles(*model_, *tokenizer_, limits_);
    ASSERT_TRUE(set.ok()) << set.to_string();
  }

  static void expect_same(const std::vector<Vectors>& found, const json& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t text = 0; text < found.size(); ++text) {
      ASSERT_EQ(found[text].size(), wanted[text].size()) << "text " << text;
      for (std::size_t token = 0; token < found[text].size(); ++token) {
        for (std::size_t i = 0; i < found[text][token].size(); ++i) {
          const auto number = wanted[text][token][i].get<float>();
          EXPECT_NEAR(found[text][token][i], number, 1e-5F * std::max(1.0F, std::abs(number)))
              << "text " << text << ", token " << token << ", number " << i;
        }
      }
    }
  }

  [[nodiscard]] const MultiVectorOutput& output() const { return *as<MultiVectorOutput>(model_->output()); }

  std::unique_ptr<Specification> model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  TextLimits limits_;
};

TEST_P(MultiVectorFolderTest, GivesTheReferencesVectorsAndScores) {
  ASSERT_NO_FATAL_FAILURE(open());
  const auto queries = vectors_of(*limits_.query);
  expect_same(queries, recorded_multi_vectors()["queries"][GetParam()]);
  const auto documents = vectors_of(limits_.document);
  expect_same(documents, recorded_multi_vectors()["documents"][GetParam()]);

  const json& scores = recorded_multi_vectors()["scores"][GetParam()];
  const auto joined = [](const Vectors& vectors) {
    std::vector<float> numbers;
    for (const auto& vector : vectors)
      numbers.insert(numbers.end(), vector.begin(), vector.end());
    return numbers;
  };
  for (std::size_t q = 0; q < queries.size(); ++q) {
    for (std::size_t d = 0; d < documents.size(); ++d) {
      const auto wanted = scores[q][d].get<float>();
      EXPECT_NEAR(output().compare(joined(queries[q]), joined(documents[d]), output().dimension()), wanted,
                  1e-5F * std::max(1.0F, std::abs(wanted)))
          << q << " " << d;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MultiVectorFolderTest,
                         ::testing::Values("bert", "distilbert", "modernbert", "mpnet", "roberta", "stanford"),
                         [](const auto& given) { return given.param; });

// PyLate's marker is looked for in lower case until it is special.
TEST(MultiVectorDataTest, AMarkerInLowerCaseIsNone) {
  constexpr std::int32_t kMarker = 45;
  const auto folder = ModelFolder::open(multi_vector_folder() / "modernbert");
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  const auto tokenizer = folder->documents().open_tokenizer();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  for (const auto& [text, count] : {std::pair{"[Q] a", 1}, {"[q] a", 0}, {"a [q] [Q] a", 1}}) {
    std::vector<std::int32_t> ids;
    ASSERT_TRUE(tokenizer->encode(text, 20, ids).ok());
    EXPECT_EQ(std::ranges::count(ids, kMarker), count) << text;
  }
}

TEST(MultiVectorDataTest, EveryRecordedOneIsTried) {
  EXPECT_EQ(recorded_multi_vectors()["queries"].size(), 6U);
}

}  // namespace
}  // namespace latebind::embedding
