// Rerankers whose folders name the code that scores, against that code (tests/data/scoring_code/make.py), on the tests'
// evaluator: the tokens of each row, and its score.
#include "embedding/folder/scoring_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/inputs/text_options.h"
#include "embedding/inputs/token_table.h"
#include "embedding/outputs/score.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::filesystem::path scoring_folder(const std::string& name) {
  return testing::data_folder() / "scoring_code" / name;
}

const json& recorded_scoring() {
  static const json document = json::parse(testing::read_file(scoring_folder("expected.json")));
  return document;
}

class ScoringCodeTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto folder = ModelFolder::open(scoring_folder(GetParam()));
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    folder_.emplace(*std::move(folder));
    ASSERT_EQ(folder_->kind().name, "score");
    auto tokenizer = model().open_tokenizer();
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    tokenizer_.emplace(*std::move(tokenizer));
  }

  [[nodiscard]] const Specification& model() const { return folder_->documents(); }
  [[nodiscard]] const json& expected() const { return recorded_scoring()["models"][GetParam()]; }

  // The rows of the recorded pairs have the recorded ids and numbers.
  void expect_rows(const json& wanted, const PromptChoice& prompt, std::size_t max_tokens) const {
    const auto limits = text_limits(model(), max_tokens);
    ASSERT_TRUE(limits.ok()) << limits.status().to_string();
    const auto of_call = limits->of_call({.prompt = prompt}, model().input.prompts);
    ASSERT_TRUE(of_call.ok()) << of_call.status().to_string();
    TokenTable table;
    for (std::size_t i = 0; i < wanted["ids"].size(); ++i) {
      const json& pair = recorded_scoring()["pairs"][i];
      const auto first = pair[0].get<std::string>();
      const auto second = pair[1].get<std::string>();
      const auto status = table.add(*tokenizer_, *of_call, TextPair{first, second});
      ASSERT_TRUE(status.ok()) << status.to_string();
      EXPECT_THAT(table.ids(i), ::testing::ElementsAreArray(wanted["ids"][i].get<std::vector<std::int32_t>>())) << pair;
    }
    const auto graph = make_graph(model());
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    const auto numbers = testing::vectors_of(*graph, testing::batch_of(wanted["ids"])).values;
    ASSERT_EQ(numbers.size(), wanted["logits"].size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(numbers[i], wanted["logits"][i].get<double>(), 1e-5) << i;
  }

  std::optional<ModelFolder> folder_;
  std::optional<Tokenizer> tokenizer_;
};

TEST_P(ScoringCodeTest, HasTheReferencesRowsAndNumbers) {
  expect_rows(expected(), {}, 0);
}

TEST_P(ScoringCodeTest, HasTheReferencesScores) {
  const auto* const output = as<ScoreOutput>(model().output());
  ASSERT_NE(output, nullptr);
  std::vector<float> scores = expected()["logits"].get<std::vector<float>>();
  output->activate(scores);
  for (std::size_t i = 0; i < scores.size(); ++i)
    EXPECT_NEAR(scores[i], expected()["scores"][i].get<double>(), 1e-6);
}

TEST_P(ScoringCodeTest, SaysWhatItAssumes) {
  EXPECT_EQ(model().assumed,
            GetParam() == "zerank"
                ? "config.json names modeling_zeranker: two texts are scored as this code does, by the "
                  "logit of 'Yes'"
                : "README.md names FlagLLMReranker: two texts are scored as this code does, by the "
                  "logit of 'Yes'");
}

INSTANTIATE_TEST_SUITE_P(All, ScoringCodeTest, ::testing::Values("flag", "zerank"),
                         [](const auto& given) { return given.param; });

class FlagRerankerTest : public ScoringCodeTest {};

TEST_P(FlagRerankerTest, CutsTextsAsTheReferenceDoes) {
  // The question, which stays, counts twice.
  std::vector<std::int32_t> end;
  ASSERT_TRUE(
      tokenizer_
          ->encode("Given a query A and a passage B, determine whether the passage contains an answer to the query "
                   "by providing a prediction of either 'Yes' or 'No'.",
                   1000, end)
          .ok());
  expect_rows(expected()["short"], {}, recorded_scoring()["limit"].get<std::size_t>() + 2 * end.size());
  TokenTable table;
  const auto limits = text_limits(model(), 2 * end.size());
  ASSERT_TRUE(limits.ok());
  const auto of_call = limits->of_call({}, model().input.prompts);
  ASSERT_TRUE(of_call.ok());
  EXPECT_THAT(table.add(*tokenizer_, *of_call, TextPair{"a", "b"}).to_string(),
              HasSubstr("leave no room for two texts"));
}

TEST_P(FlagRerankerTest, AnInstructionTakesThePlaceOfTheQuestion) {
  expect_rows(expected()["asked"], {.text = recorded_scoring()["question"].get<std::string>()}, 0);
}

INSTANTIATE_TEST_SUITE_P(All, FlagRerankerTest, ::testing::Values("flag"),
                         [](const auto& given) { return given.param; });

class ZerankTest : public ScoringCodeTest {};

TEST_P(ZerankTest, ReadsTheFirstCharactersOfEachText) {
  const auto limits = text_limits(model(), 16'000);
  ASSERT_FALSE(limits.ok()) << "the small network has few positions";
  std::string query;
  for (int i = 0; i < 2000; ++i)
    query += "\u00e9";
  const auto& frame = *model().input.frame;
  const auto whole = frame.encode(*tokenizer_, query, "a", "", 20'000);
  const auto longer = frame.encode(*tokenizer_, query + "\u00e9", "a", "", 20'000);
  const auto spaces = frame.encode(*tokenizer_, " " + query, "\u2003a\u3000", "", 20'000);
  ASSERT_TRUE(whole.ok() && longer.ok() && spaces.ok());
  EXPECT_FALSE(whole->is_cut);
  EXPECT_TRUE(longer->is_cut);
  EXPECT_EQ(longer->excess, "the first text has more than the 2000 characters that the model reads");
  EXPECT_EQ(longer->ids, whole->ids);
  EXPECT_TRUE(spaces->is_cut) << "characters are counted before white space is left out";
  EXPECT_LT(spaces->ids.size(), whole->ids.size());
  EXPECT_THAT(frame.encode(*tokenizer_, "a", "b", "be exact", 100).status().to_string(),
              HasSubstr("takes no instruction"));
}

INSTANTIATE_TEST_SUITE_P(All, ZerankTest, ::testing::Values("zerank"), [](const auto& given) { return given.param; });

// What the folder says, and nothing else, makes a language model a reranker.
TEST(ScoringCodeFolderTest, OnlyTheFolderSaysHowItScores) {
  testing::ScratchFolder scratch;
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"})
    scratch.write(file, testing::read_file(scoring_folder("flag") / file));
  const auto kind = [&] { return std::string(ModelFolder::open(scratch.path())->kind().name); };
  EXPECT_EQ(kind(), "dense");
  for (const char* card :
       {"LayerWiseFlagLLMReranker('a')", "FlagLLMReranker", "the FlagLLMReranker class", "FlagReranker('a')"}) {
    scratch.write("README.md", card);
    EXPECT_EQ(kind(), "dense") << card;
  }
  scratch.write("README.md", "from FlagEmbedding import FlagLLMReranker\nx = FlagLLMReranker('a')");
  EXPECT_EQ(kind(), "score");
  scratch.set("config.json", "auto_map", {{"AutoConfig", "modeling_other.Config"}});
  EXPECT_EQ(kind(), "dense") << "code of its own scores";
  scratch.set("config.json", "auto_map", {{"AutoConfig", "zeroentropy/zerank-1--modeling_zeranker.ZEConfig"}});
  EXPECT_THAT(ModelFolder::open(scratch.path()).status().to_string(), HasSubstr("has no chat template for it"));
  scratch.set("config.json", "auto_map", nullptr);
  scratch.set("config.json", "architectures", {"GemmaForSequenceClassification"});
  EXPECT_EQ(kind(), "score");
  EXPECT_EQ(ModelFolder::open(scratch.path())->documents().assumed, "") << "its own head scores";
}

}  // namespace
}  // namespace latebind::embedding
