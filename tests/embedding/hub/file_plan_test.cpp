// Which files of a model are needed.
#include "embedding/hub/file_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace latebind::embedding::hub {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Files = std::map<std::string, std::string>;

constexpr const char* kModules = R"([
  {"type": "sentence_transformers.models.Transformer", "path": ""},
  {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
  {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}])";
constexpr const char* kBert = R"({"model_type": "bert"})";

Result<std::vector<std::string>> plan(const Files& files, const std::string& onnx_file = {}) {
  std::vector<std::string> names;
  for (const auto& [name, text] : files)
    names.push_back(name);
  const auto read = [&](const std::string& name) -> Result<std::string> {
    const auto found = files.find(name);
    if (found == files.end()) return Status(StatusCode::kNotFound, name);
    return found->second;
  };
  return plan_files(names, read, "org/name", onnx_file);
}

TEST(FilePlanTest, TakesWhatAModelFolderReadsAndTheWeightsLast) {
  const auto files = plan({{"1_Pooling/config.json", ""},
                           {"README.md", ""},
                           {"chat_template.jinja", ""},
                           {"config.json", kBert},
                           {"config_sentence_transformers.json", ""},
                           {"model.safetensors", ""},
                           {"modules.json", kModules},
                           {"onnx/model.onnx", ""},
                           {"pytorch_model.bin", ""},
                           {"sentence_bert_config.json", ""},
                           {"added_tokens.json", ""},
                           {"special_tokens_map.json", ""},
                           {"tokenizer.json", ""},
                           {"tokenizer_config.json", ""},
                           {"vocab.txt", ""}});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  EXPECT_THAT(*files, ElementsAre("modules.json", "config_sentence_transformers.json", "README.md", "config.json",
                                  "1_Pooling/config.json", "sentence_bert_config.json", "tokenizer_config.json",
                                  "special_tokens_map.json", "chat_template.jinja", "tokenizer.json",
                                  "added_tokens.json", "model.safetensors"));
}

TEST(FilePlanTest, TakesTheOnnxFileThatIsAskedForInsteadOfWeights) {
  const Files files{{"config.json", R"({"model_type": "unheard_of"})"},
                    {"model.safetensors", ""},
                    {"onnx/model.onnx", ""},
                    {"onnx/model_O3.onnx", ""},
                    {"onnx/model_O3.onnx_data", ""},
                    {"tokenizer.json", ""}};
  const auto taken = plan(files, "onnx/model_O3.onnx");
  ASSERT_TRUE(taken.ok()) << taken.status().to_string();
  EXPECT_THAT(*taken, ElementsAre("config.json", "tokenizer.json", "onnx/model_O3.onnx_data", "onnx/model_O3.onnx"));
  EXPECT_THAT(plan({{"config.json", kBert}, {"tokenizer.json", ""}, {"onnx/model_O3.onnx", ""}}).status().to_string(),
              HasSubstr("it has the ONNX file onnx/model_O3.onnx: set embedding.onnx_file to one of them"));
  for (const char* wrong : {"onnx/model_O4.onnx", "../model.onnx"}) {
    const auto refused = plan(files, wrong);
    EXPECT_EQ(refused.status().code(), StatusCode::kNotFound);
    EXPECT_THAT(
        refused.status().to_string(),
        HasSubstr("not a file of the model; 'org/name' has the ONNX files onnx/model.onnx, onnx/model_O3.onnx"));
  }
}

TEST(FilePlanTest, OneGgufFileIsAModelAndOfSeveralNoneIsChosen) {
  EXPECT_THAT(*plan({{"README.md", ""}, {"tiny-Q8_0.gguf", ""}, {"config.json", "{}"}}), ElementsAre("tiny-Q8_0.gguf"));
  EXPECT_THAT(plan({{"README.md", ""}, {"tiny-Q4_0.gguf", ""}, {"tiny-Q8_0.gguf", ""}}).status().to_string(),
              HasSubstr("2 GGUF files (tiny-Q4_0.gguf, tiny-Q8_0.gguf)"));
  EXPECT_TRUE(plan({{"config.json", kBert}, {"tokenizer.json", ""}, {"model.safetensors", ""}, {"a.gguf", ""}}).ok());
}

TEST(FilePlanTest, PiecesOfAGgufFileAreOneModel) {
  EXPECT_THAT(*plan({{"a-00002-of-00002.gguf", ""}, {"a-00001-of-00002.gguf", ""}, {"README.md", ""}}),
              ElementsAre("a-00001-of-00002.gguf", "a-00002-of-00002.gguf"));
  for (const char* const other :
       {"b-00002-of-00002.gguf", "a-00002-of-00003.gguf", "a-00003-of-00002.gguf", "a-2-of-2.gguf"}) {
    EXPECT_THAT(plan({{"a-00001-of-00002.gguf", ""}, {other, ""}}).status().to_string(), HasSubstr("2 GGUF files"))
        << other;
  }
}

TEST(FilePlanTest, TheSuffixOfGgufMayBeInUpperCase) {
  EXPECT_THAT(*plan({{"README.md", ""}, {"tiny.GGUF", ""}}), ElementsAre("tiny.GGUF"));
}

TEST(FilePlanTest, AnAdapterLeavesTheNetworkToItsBase) {
  const auto files = plan({{"adapter_config.json", ""},
                           {"adapter_model.safetensors", ""},
                           {"adapter_model.bin", ""},
                           {"README.md", ""},
                           {"checkpoint-100/adapter_config.json", ""},
                           {"checkpoint-100/adapter_model.safetensors", ""}});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  EXPECT_THAT(*files, ElementsAre("README.md", "adapter_config.json", "adapter_model.safetensors"));
}

TEST(FilePlanTest, AdaptersOfTasksBelongToTheModel) {
  const auto files = plan({{"config.json", kBert},
                           {"tokenizer.json", ""},
                           {"model.safetensors", ""},
                           {"adapters/retrieval/adapter_config.json", ""},
                           {"adapters/retrieval/adapter_model.safetensors", ""}});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  EXPECT_THAT(*files, ElementsAre("config.json", "tokenizer.json", "adapters/retrieval/adapter_config.json",
                                  "adapters/retrieval/adapter_model.safetensors", "model.safetensors"));
}

TEST(FilePlanTest, DoesWithoutModules) {
  const auto files = plan({{"config.json", kBert}, {"tokenizer.json", ""}, {"model.safetensors", ""}});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  EXPECT_THAT(*files, ElementsAre("config.json", "tokenizer.json", "model.safetensors"));
}

TEST(FilePlanTest, GoesIntoTheTransformersFolder) {
  const auto files = plan({{"modules.json", R"([{"path": "0_Transformer"}, {"path": "1_Pooling"}])"},
                           {"0_Transformer/config.json", kBert},
                           {"0_Transformer/tokenizer.json", ""},
                           {"0_Transformer/model.safetensors", ""},
                           {"1_Pooling/config.json", ""},
                           {"config.json", ""},
                           {"tokenizer.json", ""}});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  EXPECT_THAT(*files, ElementsAre("modules.json", "0_Transformer/config.json", "1_Pooling/config.json",
                                  "0_Transformer/tokenizer.json", "0_Transformer/model.safetensors"));
}

TEST(FilePlanTest, TakesThePiecesOfWeightsAndThoseOfModules) {
  Files files{{"modules.json", R"([{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}])"},
              {"config.json", kBert},
              {"tokenizer.json", ""},
              {"1_Pooling/config.json", ""},
              {"2_Dense/config.json", ""},
              {"2_Dense/model.safetensors", ""},
              {"2_Dense/pytorch_model.bin", ""},
              {"model.safetensors.index.json", R"({"weight_map": {"a": "two.safetensors", "b": "one.safetensors"}})"},
              {"one.safetensors", ""},
              {"two.safetensors", ""}};
  const auto taken = plan(files);
  ASSERT_TRUE(taken.ok()) << taken.status().to_string();
  EXPECT_THAT(*taken, ElementsAre("modules.json", "config.json", "1_Pooling/config.json", "2_Dense/config.json",
                                  "tokenizer.json", "2_Dense/model.safetensors", "model.safetensors.index.json",
                                  "one.safetensors", "two.safetensors"));
  files.erase("two.safetensors");
  EXPECT_THAT(plan(files).status().to_string(), HasSubstr("the piece 'two.safetensors' of the weights is missing"));
  Files with_onnx = files;
  with_onnx["model.onnx"] = "";
  EXPECT_THAT(*plan(with_onnx),
              ElementsAre("modules.json", "config.json", "1_Pooling/config.json", "2_Dense/config.json",
                          "tokenizer.json", "2_Dense/model.safetensors", "model.onnx"));
  files["model.safetensors.index.json"] = R"({"weight_map": {"a": "../two.safetensors"}})";
  EXPECT_THAT(plan(files).status().to_string(), HasSubstr("is not a file of the folder"));
}

TEST(FilePlanTest, TakesWhatStaticEmbeddingsHave) {
  const auto files = plan({{"0_StaticEmbedding/model.safetensors", ""},
                           {"0_StaticEmbedding/tokenizer.json", ""},
                           {"README.md", ""},
                           {"modules.json", R"([
    {"type": "sentence_transformers.models.StaticEmbedding", "path": "0_StaticEmbedding"},
    {"type": "sentence_transformers.models.Normalize", "path": "1_Normalize"}])"}});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  EXPECT_THAT(*files, ElementsAre("modules.json", "README.md", "0_StaticEmbedding/tokenizer.json",
                                  "0_StaticEmbedding/model.safetensors"));
}

TEST(FilePlanTest, TakesWhatWordEmbeddingsHave) {
  Files files{{"0_WordEmbeddings/pytorch_model.bin", ""},
              {"0_WordEmbeddings/whitespacetokenizer_config.json", ""},
              {"0_WordEmbeddings/wordembedding_config.json", ""},
              {"1_Pooling/config.json", ""},
              {"modules.json", R"([
    {"type": "sentence_transformers.models.WordEmbeddings", "path": "0_WordEmbeddings"},
    {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}])"}};
  EXPECT_THAT(*plan(files),
              ElementsAre("modules.json", "1_Pooling/config.json", "0_WordEmbeddings/wordembedding_config.json",
                          "0_WordEmbeddings/whitespacetokenizer_config.json", "0_WordEmbeddings/pytorch_model.bin"));
  files.erase("0_WordEmbeddings/whitespacetokenizer_config.json");
  EXPECT_THAT(plan(files).status().to_string(), HasSubstr("whitespacetokenizer_config.json"));
}

constexpr const char* kRouter = R"({
  "types": {"query_0_SparseStaticEmbedding": "sentence_transformers.x.SparseStaticEmbedding",
            "": "sentence_transformers.x.MLMTransformer", "document_1_SpladePooling": "sentence_transformers.x.SpladePooling"},
  "structure": {"query": ["query_0_SparseStaticEmbedding"], "document": ["", "document_1_SpladePooling"]},
  "parameters": {}})";

TEST(FilePlanTest, TakesBothWaysOfARouter) {
  Files files{{"config.json", kBert},
              {"config_sentence_transformers.json", ""},
              {"document_1_SpladePooling/config.json", ""},
              {"idf.json", ""},
              {"model.safetensors", ""},
              {"modules.json", R"([{"type": "sentence_transformers.models.Router", "path": ""}])"},
              {"query_0_SparseStaticEmbedding/config.json", ""},
              {"query_0_SparseStaticEmbedding/model.safetensors", ""},
              {"query_0_SparseStaticEmbedding/tokenizer.json", ""},
              {"query_0_SparseStaticEmbedding/tokenizer_config.json", ""},
              {"query_0_SparseStaticEmbedding/vocab.txt", ""},
              {"router_config.json", kRouter},
              {"onnx/model.onnx", ""},
              {"tokenizer.json", ""}};
  const auto taken = plan(files);
  ASSERT_TRUE(taken.ok()) << taken.status().to_string();
  EXPECT_THAT(
      *taken,
      ElementsAre("modules.json", "router_config.json", "config_sentence_transformers.json", "config.json",
                  "document_1_SpladePooling/config.json", "tokenizer.json", "query_0_SparseStaticEmbedding/config.json",
                  "query_0_SparseStaticEmbedding/tokenizer_config.json", "query_0_SparseStaticEmbedding/tokenizer.json",
                  "model.safetensors", "query_0_SparseStaticEmbedding/model.safetensors"));
  // The table is needed beside the network's ONNX file.
  const auto onnx = plan(files, "onnx/model.onnx");
  ASSERT_TRUE(onnx.ok()) << onnx.status().to_string();
  EXPECT_THAT(*onnx, Contains("query_0_SparseStaticEmbedding/model.safetensors"));
  EXPECT_THAT(*onnx, Contains("onnx/model.onnx"));
  EXPECT_THAT(*onnx, Not(Contains("model.safetensors")));
  files.erase("query_0_SparseStaticEmbedding/tokenizer.json");
  files.erase("tokenizer.json");
  EXPECT_THAT(plan(files).status().to_string(), HasSubstr("tokenizer.json"));
  files["router_config.json"] = "{}";
  EXPECT_THAT(plan(files).status().to_string(), HasSubstr("router_config.json: 'types' is missing"));
  files.erase("router_config.json");
  EXPECT_EQ(plan(files).status().code(), StatusCode::kNotFound);
}

TEST(FilePlanTest, TakesOnnxWithItsTensorsWhereThereAreNoWeightsForUs) {
  const auto files = plan({{"config.json", kBert},
                           {"tokenizer.json", ""},
                           {"onnx/model.onnx", ""},
                           {"onnx/model.onnx_data", ""},
                           {"onnx/model_O4.onnx", ""},
                           {"model.onnx", ""}});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  EXPECT_THAT(*files, ElementsAre("config.json", "tokenizer.json", "onnx/model.onnx_data", "onnx/model.onnx"));
}

TEST(FilePlanTest, TakesPytorchsWeightsWhereThereAreNoSafetensors) {
  Files files{{"config.json", kBert},   {"tokenizer.json", ""},    {"pytorch_model.bin", ""}, {"colbert_linear.pt", ""},
              {"sparse_linear.pt", ""}, {"training_args.bin", ""}, {"onnx/model.onnx", ""}};
  const auto whole = plan(files);
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_THAT(*whole, ElementsAre("config.json", "tokenizer.json", "colbert_linear.pt", "sparse_linear.pt",
                                  "pytorch_model.bin"));
  files.erase("pytorch_model.bin");
  files["pytorch_model.bin.index.json"] = R"({"weight_map": {"a": "two.bin", "b": "one.bin"}})";
  files["one.bin"] = files["two.bin"] = "";
  const auto pieces = plan(files);
  ASSERT_TRUE(pieces.ok()) << pieces.status().to_string();
  EXPECT_THAT(*pieces, ElementsAre("config.json", "tokenizer.json", "colbert_linear.pt", "sparse_linear.pt",
                                   "pytorch_model.bin.index.json", "one.bin", "two.bin"));
  files["model.safetensors"] = "";
  EXPECT_EQ(plan(files)->back(), "model.safetensors");
}

TEST(FilePlanTest, LeavesThePiecesOfWhatIsNotKnown) {
  const auto taken = plan({{"config.json", R"({"model_type": "whisper"})"},
                           {"tokenizer.json", ""},
                           {"model.safetensors.index.json", R"({"weight_map": {"a": "one.safetensors"}})"},
                           {"one.safetensors", ""},
                           {"model.onnx", ""}});
  ASSERT_TRUE(taken.ok()) << taken.status().to_string();
  EXPECT_THAT(*taken, ElementsAre("config.json", "tokenizer.json", "model.onnx"));
}

TEST(FilePlanTest, TakesOnnxForWhatIsNoBert) {
  Files files{{"config.json", R"({"model_type": "whisper"})"}, {"tokenizer.json", ""}, {"model.safetensors", ""}};
  const auto refused = plan(files);
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.status().to_string(), HasSubstr("'whisper'"));
  files.emplace("onnx/model.onnx", "");
  const auto taken = plan(files);
  ASSERT_TRUE(taken.ok()) << taken.status().to_string();
  EXPECT_THAT(*taken, ElementsAre("config.json", "tokenizer.json", "onnx/model.onnx"));
}

TEST(FilePlanTest, SaysWhatIsMissing) {
  EXPECT_THAT(plan({}).status().to_string(), HasSubstr("no config.json and tokenizer.json"));
  EXPECT_THAT(plan({{"config.json", kBert}}).status().to_string(), HasSubstr("no tokenizer.json"));
  EXPECT_THAT(plan({{"config.json", kBert}, {"tokenizer.json", ""}}).status().to_string(),
              HasSubstr("none of model.safetensors, pytorch_model.bin or onnx/model.onnx"));
}

TEST(FilePlanTest, RefusesModulesThatLeadOut) {
  for (const char* modules : {R"([{"path": "../x"}])", R"([{"path": "/x"}])", R"([{"path": "a\\b"}])",
                              R"([{"path": 7}])", "{}", "[]", "[7", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}) {
    const auto files =
        plan({{"modules.json", modules}, {"config.json", kBert}, {"tokenizer.json", ""}, {"model.safetensors", ""}});
    EXPECT_EQ(files.status().code(), StatusCode::kInvalidModel) << modules;
  }
}

TEST(FilePlanTest, PassesOnWhyAFileCannotBeRead) {
  const auto read = [](const std::string&) -> Result<std::string> { return Status(StatusCode::kDiskFull, "full"); };
  EXPECT_EQ(plan_files({"modules.json"}, read, "org/name").status().code(), StatusCode::kDiskFull);
}

TEST(FilePlanTest, WithoutATokenizerTakesWhatOneIsMadeOf) {
  Files files{{"0_Transformer/config.json", R"({"model_type": "roberta"})"},
              {"0_Transformer/merges.txt", ""},
              {"0_Transformer/model.safetensors", ""},
              {"0_Transformer/special_tokens_map.json", ""},
              {"0_Transformer/added_tokens.json", ""},
              {"0_Transformer/vocab.json", ""},
              {"0_Transformer/vocab.txt", ""},
              {"modules.json", R"([{"type": "sentence_transformers.models.Transformer", "path": "0_Transformer"}])"}};
  const auto taken = plan(files);
  ASSERT_TRUE(taken.ok()) << taken.status().to_string();
  EXPECT_THAT(*taken, ElementsAre("modules.json", "0_Transformer/config.json", "0_Transformer/special_tokens_map.json",
                                  "0_Transformer/vocab.json", "0_Transformer/merges.txt",
                                  "0_Transformer/added_tokens.json", "0_Transformer/model.safetensors"));
  files["0_Transformer/tokenizer_config.json"] = R"({"tokenizer_class": "BertTokenizerFast"})";
  const auto of_bert = plan(files);
  ASSERT_TRUE(of_bert.ok()) << of_bert.status().to_string();
  EXPECT_THAT(*of_bert, ElementsAre("modules.json", "0_Transformer/config.json", "0_Transformer/tokenizer_config.json",
                                    "0_Transformer/special_tokens_map.json", "0_Transformer/vocab.txt",
                                    "0_Transformer/added_tokens.json", "0_Transformer/model.safetensors"));
  files["0_Transformer/tokenizer_config.json"] = R"({"tokenizer_class": "GemmaTokenizer"})";
  EXPECT_THAT(plan(files).status().to_string(), HasSubstr("'org/name': tokenizer_config.json: 'tokenizer_class' "
                                                          "'GemmaTokenizer' needs a tokenizer.json"));
  files["tokenizer.json"] = "";
  ASSERT_TRUE(plan(files).ok());
  EXPECT_THAT(*plan(files), Contains("tokenizer.json"));
  EXPECT_THAT(*plan(files), Not(Contains("0_Transformer/vocab.txt")));
}

TEST(FilePlanTest, NamesTheMissingPartOfAVocabulary) {
  const auto found = plan({{"config.json", R"({"model_type": "roberta"})"}, {"vocab.json", ""}, {"model.onnx", ""}});
  EXPECT_EQ(found.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(found.status().to_string(),
              HasSubstr("'org/name' has no merges.txt (of RobertaTokenizer; or tokenizer.json)"));
}

}  // namespace
}  // namespace latebind::embedding::hub
