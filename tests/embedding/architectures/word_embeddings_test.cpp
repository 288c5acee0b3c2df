// Folders of WordEmbeddings, against sentence-transformers (tests/data/words/make.py): from the folder to the vectors,
// on the tests' evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedding/architectures/architecture.h"
#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::filesystem::path words_folder() {
  return testing::data_folder() / "words";
}

TEST(WordEmbeddingsTest, GivesTheReferencesVectors) {
  const json expected = json::parse(testing::read_file(words_folder() / "expected.json"));
  for (const char* name : {"glove", "lower"}) {
    SCOPED_TRACE(name);
    const auto folder = ModelFolder::open(words_folder() / name);
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    EXPECT_EQ(folder->kind().name, "dense");
    const Specification& model = folder->documents();
    const auto tokenizer = model.open_tokenizer();
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    const auto graph = make_graph(model);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    std::vector<std::vector<std::int32_t>> batch;
    for (const json& text : expected["texts"]) {
      auto& ids = batch.emplace_back();
      ASSERT_TRUE(tokenizer->encode(text.get<std::string>(), model.input.max_tokens, ids).ok());
    }
    const auto vectors = testing::vectors_of(*graph, testing::batch_of(batch));
    const json& wanted = expected[name]["vectors"];
    const std::size_t width = wanted[0].size();
    ASSERT_EQ(vectors.values.size(), wanted.size() * width);
    std::size_t compared = 0;
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      // The evaluator has no mean of nothing; tests/cli/modules_test.py compares these rows on devices.
      if (batch[row].empty()) continue;
      for (std::size_t i = 0; i < width; ++i)
        EXPECT_NEAR(vectors.values[row * width + i], wanted[row][i].get<double>(), 2e-6) << row << "," << i;
      ++compared;
    }
    EXPECT_GT(compared, 50U);
  }
}

class WordEmbeddingsFolderTest : public ::testing::Test {
 protected:
  WordEmbeddingsFolderTest() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(words_folder() / "glove")) {
      if (!entry.is_directory())
        scratch_.write(entry.path().lexically_relative(words_folder() / "glove").generic_string(),
                       testing::read_file(entry.path()));
    }
  }

  [[nodiscard]] std::string refusal() const {
    const auto folder = ModelFolder::open(scratch_.path());
    if (!folder.ok()) return folder.status().to_string();
    const auto built = make_graph(folder->documents());
    return built.ok() ? "it was taken" : built.status().to_string();
  }

  testing::ScratchFolder scratch_;
};

constexpr const char* kConfig = "0_WordEmbeddings/wordembedding_config.json";

TEST_F(WordEmbeddingsFolderTest, ReadsAsManyWordsAsItsFileSays) {
  scratch_.set(kConfig, "max_seq_length", 3);
  EXPECT_EQ(ModelFolder::open(scratch_.path())->documents().input.max_tokens, 3U);
  for (const json& unlimited : {json(nullptr), json(1000000)}) {
    scratch_.set(kConfig, "max_seq_length", unlimited);
    EXPECT_EQ(ModelFolder::open(scratch_.path())->documents().input.max_tokens, kTokensMax);
  }
}

TEST_F(WordEmbeddingsFolderTest, RefusesWhatItDoesNotKnowByName) {
  EXPECT_EQ(refusal(), "it was taken");
  scratch_.set(kConfig, "max_seq_length", 0);
  EXPECT_THAT(refusal(), HasSubstr("'max_seq_length'"));
  scratch_.set(kConfig, "max_seq_length", nullptr);
  scratch_.set(kConfig, "update_embeddings", "no");
  EXPECT_THAT(refusal(), HasSubstr("'update_embeddings'"));
  scratch_.set(kConfig, "update_embeddings", true);
  EXPECT_EQ(refusal(), "it was taken");
  scratch_.set(kConfig, "other", 1);
  EXPECT_THAT(refusal(), HasSubstr("'other' is not supported"));
  scratch_.set(kConfig, "other", nullptr);
  for (const json& type : {json("sentence_transformers.models.tokenizer.PhraseTokenizer.PhraseTokenizer"),
                           json(nullptr), json("my_code.WhitespaceTokenizer")}) {
    scratch_.set(kConfig, "tokenizer_class", type);
    EXPECT_THAT(refusal(), HasSubstr("'tokenizer_class'"));
  }
}

TEST_F(WordEmbeddingsFolderTest, NeedsItsFilesAndTheMean) {
  scratch_.write("1_Pooling/config.json", R"({"word_embedding_dimension": 12, "pooling_mode": "max"})");
  EXPECT_THAT(refusal(), HasSubstr("the pooling 'max' after WordEmbeddings is not supported; only mean is"));
  scratch_.write("1_Pooling/config.json", R"({"word_embedding_dimension": 13, "pooling_mode": "mean"})");
  EXPECT_THAT(refusal(), HasSubstr("'word_embedding_dimension' is 13"));
  scratch_.write("1_Pooling/config.json", R"({"pooling_mode": "mean", "include_prompt": false})");
  EXPECT_EQ(refusal(), "it was taken") << "the reference leaves out no prompt of words";
  EXPECT_FALSE(ModelFolder::open(scratch_.path())->documents().input.prompts.left_out);
  std::filesystem::remove(scratch_.path() / "0_WordEmbeddings/whitespacetokenizer_config.json");
  EXPECT_THAT(refusal(), HasSubstr("whitespacetokenizer_config.json missing in '0_WordEmbeddings'"));
  std::filesystem::remove(scratch_.path() / kConfig);
  EXPECT_THAT(refusal(), HasSubstr("wordembedding_config.json"));
}

TEST_F(WordEmbeddingsFolderTest, AnotherTableIsRefused) {
  std::filesystem::remove(scratch_.path() / "0_WordEmbeddings/pytorch_model.bin");
  const char* const file = "0_WordEmbeddings/model.safetensors";
  scratch_.write(
      file, testing::safetensors(R"({"embedding.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24));
  EXPECT_THAT(refusal(), HasSubstr("no 'emb_layer.weight', which WordEmbeddings have"));
  scratch_.write(file,
                 testing::safetensors(R"({"emb_layer.weight":{"dtype":"F32","shape":[6],"data_offsets":[0,24]}})", 24));
  EXPECT_THAT(refusal(), HasSubstr("'emb_layer.weight' has the shape [6], a table was expected"));
  std::filesystem::remove(scratch_.path() / file);
  EXPECT_THAT(refusal(), HasSubstr("model.safetensors, pytorch_model.bin"));
}

TEST_F(WordEmbeddingsFolderTest, ATextWithoutKnownWordsHasTheZeroVector) {
  const auto with_dense = [&](const char* config) {
    scratch_.write("2_Dense/config.json", config);
    scratch_.write(
        "2_Dense/model.safetensors",
        testing::safetensors(R"({"linear.weight":{"dtype":"F32","shape":[3,12],"data_offsets":[0,144]}})", 144));
    scratch_.write("modules.json",
                   R"([{"path": "0_WordEmbeddings", "type": "sentence_transformers.models.WordEmbeddings"},)"
                   R"({"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},)"
                   R"({"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])");
    return refusal();
  };
  EXPECT_EQ(with_dense(R"({"in_features": 12, "out_features": 3, "bias": false})"), "it was taken");
  EXPECT_THAT(with_dense(R"({"in_features": 12, "out_features": 3, "bias": true})"),
              HasSubstr("Dense with a bias, after WordEmbeddings is not supported"));
}

TEST_F(WordEmbeddingsFolderTest, StandsFirstAndPoolingFollows) {
  scratch_.write("modules.json",
                 R"([{"path": "0_WordEmbeddings", "type": "sentence_transformers.models.WordEmbeddings"}])");
  EXPECT_THAT(refusal(), HasSubstr("no Pooling module"));
  for (const char* next : {"Normalize", "SpladePooling", "LogitScore", "WordWeights", "WordEmbeddings"}) {
    scratch_.write("modules.json",
                   R"([{"path": "0_WordEmbeddings", "type": "sentence_transformers.models.WordEmbeddings"},)"
                   R"({"path": "1_Pooling", "type": "sentence_transformers.models.)" +
                       std::string(next) + "\"}]");
    EXPECT_THAT(refusal(), HasSubstr("models." + std::string(next) + "' as number 2 is not supported")) << next;
  }
}

}  // namespace
}  // namespace latebind::embedding
