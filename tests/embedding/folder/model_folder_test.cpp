// What the files of a folder say of a model: lengths, pooling, modules, prompts.
#include "tests/embedding/folder/model_folder_fixture.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ModelFolderTest, ReadsEveryFile) {
  const auto model = open();
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->name(), "ModelFolderTest.ReadsEveryFile");
  EXPECT_EQ(model->documents().input.tokenizer_file, scratch_.path() / "tokenizer.json");
  ASSERT_EQ(model->documents().network.weights.size(), 1U);
  EXPECT_EQ(model->documents().network.weights[0].file, scratch_.path() / "model.safetensors");
  EXPECT_FALSE(model->documents().network.onnx_file);
  ASSERT_NE(model->documents().network.network, nullptr);
  EXPECT_EQ(model->documents().network.network->tokens_max(), 24U);
  EXPECT_GT(model->documents().network.network->vocabulary_size(), 0U);
  EXPECT_EQ(model->documents().network.hidden_size, 32U);
  EXPECT_EQ(model->documents().output().pooling(), PoolingMode::kMean);
  EXPECT_TRUE(model->documents().output().normalizes());
  EXPECT_EQ(model->documents().input.max_tokens, 20U);
}

TEST_F(ModelFolderTest, TheSpecificationCanBePrinted) {
  const core::Json described = open()->describe();
  EXPECT_EQ(described["name"], "ModelFolderTest.TheSpecificationCanBePrinted");
  EXPECT_EQ(described["input"]["kind"], "text");
  EXPECT_EQ(described["input"]["tokens_max"], 20);
  EXPECT_EQ(described["network"]["form"], "weights");
  EXPECT_EQ(described["network"]["files"], core::Json::array({"model.safetensors"}));
  EXPECT_EQ(described["outputs"]["dense"]["pooling"], "mean");
  EXPECT_EQ(described["outputs"]["dense"]["normalized"], true);
  EXPECT_TRUE(described["outputs"].contains("token_vectors"));
}

TEST_F(ModelFolderTest, OutputsOfOneEndAreKnown) {
  const auto model = open();
  EXPECT_TRUE(model->documents().shares_one_end(model->documents().outputs));
  // The weights of terms come from a head of the network.
  const auto sparse = ModelFolder::open(std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/sparse_encoders/bert");
  ASSERT_TRUE(sparse.ok()) << sparse.status().to_string();
  const OutputList& outputs = sparse->documents().outputs;
  EXPECT_FALSE(sparse->documents().shares_one_end(outputs));
  EXPECT_TRUE(sparse->documents().shares_one_end({outputs.front()}));
}

TEST_F(ModelFolderTest, WithoutModulesPoolsTheMeanAndDoesNotNormalize) {
  EXPECT_EQ(open()->documents().assumed, "");
  std::filesystem::remove(scratch_.path() / "modules.json");
  scratch_.set("1_Pooling/config.json", "pooling_mode_cls_token", true);
  const auto model = open();
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->documents().output().pooling(), PoolingMode::kMean);
  EXPECT_FALSE(model->documents().output().normalizes());
  EXPECT_EQ(model->documents().input.max_tokens, 24U);
  EXPECT_EQ(model->documents().assumed,
            model->name() +
                " has no modules.json: the mean of the tokens' vectors is taken for a text's, and it is "
                "not normalized; not read without it: 1_Pooling/config.json, sentence_bert_config.json");
  scratch_.write("chat_template.jinja", "{{ messages[0].content }}");
  EXPECT_THAT(open()->documents().assumed, HasSubstr("; texts are not put into the chat template of the tokenizer"));
}

// The classes and values that decide it in the reference (tests/data/networks/sweep_without_modules.py).
TEST_F(ModelFolderTest, WithoutModulesTheClassOfTheNetworkSaysHowTextsArePooled) {
  std::filesystem::remove(scratch_.path() / "modules.json");
  for (const char* file : {"config.json", "model.safetensors"})
    scratch_.write(file, testing::read_file(testing::data_folder() / "networks" / "qwen3" / file));
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kLastToken);
  EXPECT_THAT(open()->documents().assumed,
              HasSubstr("the vector of the last token is taken for a text's, because config.json "
                        "names Qwen3ForCausalLM, and it is not normalized"));
  scratch_.set("config.json", "is_causal", true);
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kLastToken);
  scratch_.set("config.json", "is_causal", false);
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kMean);
  scratch_.set("config.json", "is_causal", 1);
  expect(StatusCode::kInvalidModel, {"config.json", "'is_causal' is 1, must be true or false"});

  for (const char* file : {"config.json", "model.safetensors"})
    scratch_.write(file, testing::read_file(testing::tiny_bert("f32") / file));
  const auto pooling = [&](const json& classes) {
    scratch_.set("config.json", "architectures", classes);
    return open()->documents().output().pooling();
  };
  EXPECT_EQ(pooling({"SomeForCausalLM"}), PoolingMode::kLastToken);
  EXPECT_EQ(pooling({"SomeForCausalLM", "SomeModel"}), PoolingMode::kLastToken);
  EXPECT_EQ(pooling({"SomeModel", "SomeForCausalLM"}), PoolingMode::kMean);
  EXPECT_EQ(pooling("SomeForCausalLM"), PoolingMode::kMean);
  EXPECT_EQ(pooling(json::array()), PoolingMode::kMean);
  EXPECT_EQ(pooling(nullptr), PoolingMode::kMean);
  pooling({"SomeForCausalLM"});
  auto config = json::parse(testing::read_file(scratch_.path() / "config.json"));
  config["is_causal"] = nullptr;
  scratch_.write("config.json", config.dump());
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kMean);
}

TEST_F(ModelFolderTest, WithoutModulesTheirCompanionsHaveNoEffect) {
  const std::string file = "config_sentence_transformers.json";
  scratch_.write(file, R"({"prompts": {"query": "a b "}, "default_prompt_name": "query"})");
  EXPECT_EQ(open()->documents().input.prompts.by_default, "a b ");
  std::filesystem::remove(scratch_.path() / "modules.json");
  EXPECT_EQ(open()->documents().input.prompts.by_default, "");
  EXPECT_TRUE(open()->documents().input.prompts.by_name.empty());
  EXPECT_THAT(open()->documents().small_files, Not(Contains(scratch_.path() / file)));
  EXPECT_THAT(open()->documents().assumed, HasSubstr(file));
  scratch_.set(file, "model_type", "CrossEncoder");
  scratch_.set(file, "truncate_dim", 8);
  EXPECT_EQ(open()->kind().name, "dense");
}

TEST_F(ModelFolderTest, LimitsTokensByTheFirstFileThatSaysSo) {
  scratch_.set("sentence_bert_config.json", "max_seq_length", 1000);
  EXPECT_EQ(open()->documents().input.max_tokens, 24U);
  scratch_.set("sentence_bert_config.json", "max_seq_length", nullptr);
  EXPECT_EQ(open()->documents().input.max_tokens, 24U);
  scratch_.write("tokenizer_config.json", R"({"model_max_length": 12})");
  EXPECT_EQ(open()->documents().input.max_tokens, 12U);
  scratch_.write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(open()->documents().input.max_tokens, 24U);
  scratch_.write("tokenizer_config.json", R"({"model_max_length": 1})");
  expect(StatusCode::kInvalidModel, {"tokenizer_config.json", "model_max_length"});
  scratch_.set("sentence_bert_config.json", "max_seq_length", 16);
  EXPECT_EQ(open()->documents().input.max_tokens, 16U);
  scratch_.set("sentence_bert_config.json", "max_seq_length", 1);
  expect(StatusCode::kInvalidModel, {"sentence_bert_config.json", "max_seq_length"});
}

// Of RoBERTa's positions those up to the padding's are no token's: a longer text would have none.
TEST_F(ModelFolderTest, LimitsTokensByWhatTheNetworkTakes) {
  for (const char* file : {"config.json", "model.safetensors"})
    scratch_.write(file, testing::read_file(testing::data_folder() / "networks" / "roberta" / file));
  scratch_.set("sentence_bert_config.json", "max_seq_length", 26);
  EXPECT_EQ(open()->documents().input.max_tokens, 24U);
  scratch_.set("sentence_bert_config.json", "max_seq_length", nullptr);
  EXPECT_EQ(open()->documents().input.max_tokens, 24U);
  scratch_.write("tokenizer_config.json", R"({"model_max_length": 25})");
  EXPECT_EQ(open()->documents().input.max_tokens, 24U);
  scratch_.write("onnx/model.onnx", "-");
  std::filesystem::remove(scratch_.path() / "model.safetensors");
  EXPECT_EQ(open()->documents().input.max_tokens, 24U) << "of an ONNX file, too";
  scratch_.set("config.json", "pad_token_id", 24);
  expect(StatusCode::kInvalidModel, {"config.json", "positions for 1 tokens of a text, must be at least 2"});
}

TEST_F(ModelFolderTest, KnowsEachPoolingModeInBothSpellings) {
  const std::string file = "1_Pooling/config.json";
  const auto only = [&](const char* key) {
    json config{{"word_embedding_dimension", 32}, {"pooling_mode_mean_tokens", false}};
    config[key] = true;
    scratch_.write(file, config.dump());
  };
  only("pooling_mode_cls_token");
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kCls);
  only("pooling_mode_mean_tokens");
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kMean);
  only("pooling_mode_max_tokens");
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kMax);
  only("pooling_mode_lasttoken");
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kLastToken);
  only("pooling_mode_weightedmean_tokens");
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kWeightedMean);
  only("pooling_mode_mean_sqrt_len_tokens");
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kMeanSqrt);
  only("pooling_mode_wisdom");
  expect(StatusCode::kUnsupported, {"pooling_mode_wisdom"});
  for (const auto& [word, mode] :
       {std::pair("cls", PoolingMode::kCls), std::pair("mean", PoolingMode::kMean), std::pair("max", PoolingMode::kMax),
        std::pair("lasttoken", PoolingMode::kLastToken), std::pair("weightedmean", PoolingMode::kWeightedMean),
        std::pair("mean_sqrt_len_tokens", PoolingMode::kMeanSqrt)}) {
    scratch_.write(file, json{{"embedding_dimension", 32}, {"pooling_mode", word}}.dump());
    EXPECT_EQ(open()->documents().output().pooling(), mode) << word;
  }
  scratch_.write(file, R"({"pooling_mode": "wisdom"})");
  expect(StatusCode::kUnsupported, {"wisdom"});
  scratch_.write(file, "{}");
  EXPECT_EQ(open()->documents().output().pooling(), PoolingMode::kMean);
}

TEST_F(ModelFolderTest, RefusesSeveralPoolingModesOrNone) {
  scratch_.set("1_Pooling/config.json", "pooling_mode_cls_token", true);
  expect(StatusCode::kUnsupported, {"several pooling modes", "cls and mean"});
  scratch_.set("1_Pooling/config.json", "pooling_mode_cls_token", false);
  scratch_.set("1_Pooling/config.json", "pooling_mode_mean_tokens", false);
  expect(StatusCode::kInvalidModel, {"1_Pooling", "no pooling mode"});
}

TEST_F(ModelFolderTest, RefusesAPoolingThatDoesNotFit) {
  scratch_.set("1_Pooling/config.json", "word_embedding_dimension", 64);
  expect(StatusCode::kInvalidModel, {"1_Pooling", "'word_embedding_dimension' is 64", "32"});
  std::filesystem::remove(scratch_.path() / "1_Pooling" / "config.json");
  expect(StatusCode::kNotFound, {"1_Pooling", "modules.json names it"});
}

TEST_F(ModelFolderTest, NormalizeIsOfTheTextsVector) {
  const std::string file = "2_Normalize/config.json";
  EXPECT_TRUE(open()->documents().output().normalizes()) << "without a file";
  scratch_.write(file, R"({"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"})");
  EXPECT_TRUE(open()->documents().output().normalizes());
  EXPECT_THAT(open()->documents().small_files, Contains(scratch_.path() / file)) << "a bundle takes it along";
  scratch_.set(file, "module_output_name", "token_embeddings");
  expect(StatusCode::kUnsupported, {"2_Normalize", "'module_output_name' is 'token_embeddings'"});
  scratch_.set(file, "module_input_name", "token_embeddings");
  expect(StatusCode::kUnsupported,
         {"2_Normalize", "'module_input_name' is 'token_embeddings'; only sentence_embedding"});
  scratch_.write(file, R"({"module_input_name": null})");
  expect(StatusCode::kUnsupported, {"2_Normalize", "'module_input_name' is null"});
}

TEST_F(ModelFolderTest, AnotherKindOfModelIsRefused) {
  const std::string file = "config_sentence_transformers.json";
  scratch_.write(file, R"({"model_type": "SentenceTransformer"})");
  EXPECT_TRUE(open().ok());
  for (const json& other : {json("Other"), json(""), json(nullptr)}) {
    scratch_.write(file, json{{"model_type", other}}.dump());
    expect(StatusCode::kUnsupported, {file, "'model_type' is '", "supported are SentenceTransformer"});
  }
  scratch_.write(file, "{}");
  EXPECT_TRUE(open().ok());
}

TEST_F(ModelFolderTest, RefusesOtherModulesByName) {
  const auto modules = [&](std::initializer_list<const char*> kinds) {
    json list = json::array();
    for (const char* kind : kinds) {
      const std::string type = std::string("sentence_transformers.models.") + kind;
      list.push_back({{"idx", list.size()}, {"path", type.ends_with("Pooling") ? "1_Pooling" : ""}, {"type", type}});
    }
    scratch_.write("modules.json", list.dump());
  };
  modules({"Transformer", "Pooling"});
  ASSERT_TRUE(open().ok());
  EXPECT_FALSE(open()->documents().output().normalizes());
  modules({"Transformer", "Pooling", "Dense", "Normalize"});
  expect(StatusCode::kUnsupported, {"modules.json", "models.Dense", "number 3"});
  modules({"Pooling"});
  expect(StatusCode::kUnsupported, {"models.Pooling"});
  modules({"Transformer", "Normalize"});
  expect(StatusCode::kUnsupported, {"models.Normalize"});
  modules({"Transformer", "Pooling", "Normalize", "Normalize"});
  expect(StatusCode::kUnsupported, {"number 4"});
  modules({"Transformer"});
  expect(StatusCode::kUnsupported, {"no Pooling module"});
  scratch_.write("modules.json", R"([{"type": "my.Transformer", "path": ""}])");
  expect(StatusCode::kUnsupported, {"my.Transformer"});
  scratch_.write("modules.json", "[]");
  expect(StatusCode::kInvalidModel, {"0 modules"});
  scratch_.write("modules.json", "{}");
  expect(StatusCode::kInvalidModel, {"array"});
}

TEST_F(ModelFolderTest, PathsOfModulesStayInTheFolder) {
  for (const char* path : {"..", "../other", "a/../../b", "/etc", "1_Pooling/..", "..\\\\x", "C:\\\\x", "a\\u0000b"}) {
    scratch_.write("modules.json",
                   std::string(R"([{"type": "sentence_transformers.models.Transformer", "path": ")") + path + R"("}])");
    expect(StatusCode::kInvalidModel, {"modules.json", "leads out"});
  }
}

TEST_F(ModelFolderTest, ReadsATransformerInAFolderOfItsOwn) {
  const auto inner = scratch_.path() / "0_Transformer";
  std::filesystem::create_directory(inner);
  for (const char* name : {"config.json", "model.safetensors", "tokenizer.json", "sentence_bert_config.json"}) {
    std::filesystem::rename(scratch_.path() / name, inner / name);
  }
  scratch_.write("modules.json", R"([{"type": "sentence_transformers.models.Transformer", "path": "0_Transformer"},)"
                                 R"({"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}])");
  const auto model = open();
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  ASSERT_EQ(model->documents().network.weights.size(), 1U);
  EXPECT_EQ(model->documents().network.weights[0].file, inner / "model.safetensors");
  EXPECT_EQ(model->documents().input.max_tokens, 20U);
}

TEST_F(ModelFolderTest, ADefaultPromptIsOneOfThePrompts) {
  const std::string file = "config_sentence_transformers.json";
  scratch_.write(file, R"({"prompts": {"query": "q: "}, "default_prompt_name": null})");
  EXPECT_EQ(open()->documents().input.prompts.by_default, "");
  scratch_.write(file, R"({"prompts": {"query": "q: ", "passage": null}, "default_prompt_name": "query"})");
  EXPECT_EQ(open()->documents().input.prompts.by_default, "q: ");
  scratch_.set(file, "default_prompt_name", "passage");
  EXPECT_EQ(open()->documents().input.prompts.by_default, "");
  // The reference knows this one of every model.
  scratch_.set(file, "default_prompt_name", "document");
  EXPECT_EQ(open()->documents().input.prompts.by_default, "");
  scratch_.set(file, "default_prompt_name", "other");
  expect(StatusCode::kInvalidModel, {file, "'default_prompt_name' is 'other'", "not among 'prompts': query"});
  scratch_.set(file, "prompts", nullptr);
  expect(StatusCode::kInvalidModel, {"'default_prompt_name' is 'other'", "there are none"});
  scratch_.set(file, "prompts", {{"other", 3}});
  expect(StatusCode::kInvalidModel, {file, "'other' of 'prompts' is not a text of at most 16384 bytes"});
  scratch_.set(file, "prompts", {{"other", std::string(16385, 'a')}});
  expect(StatusCode::kInvalidModel, {"is not a text of at most 16384 bytes"});
  scratch_.set(file, "prompts", nullptr);
  scratch_.set(file, "default_prompt_name", 3);
  expect(StatusCode::kInvalidModel, {"'default_prompt_name' must be a string"});
}

TEST_F(ModelFolderTest, KeepsAsManyNumbersAsItsFilesSay) {
  const std::string file = "config_sentence_transformers.json";
  const auto kept = [&] { return open()->describe()["outputs"]["dense"]["kept_dimensions"]; };
  EXPECT_TRUE(kept().is_null());
  scratch_.write(file, R"({"truncate_dim": 16})");
  EXPECT_EQ(kept(), 16);
  scratch_.write(file, R"({"truncate_dim": null})");
  EXPECT_TRUE(kept().is_null());
  for (const char* const wrong : {"0", "-1", "true", "1.5", R"("16")"}) {
    scratch_.write(file, fmt::format(R"({{"truncate_dim": {}}})", wrong));
    expect(StatusCode::kInvalidModel, {file, "'truncate_dim' is", "an integer above 0, or null"});
  }
}

TEST_F(ModelFolderTest, PromptsAreTextsByTheirNames) {
  const std::string file = "config_sentence_transformers.json";
  scratch_.write(file, R"({"prompts": null})");
  EXPECT_TRUE(open().ok());
  scratch_.write(file, R"({"prompts": {"query": 5}})");
  expect(StatusCode::kInvalidModel, {file, "'query' of 'prompts' is not a text"});
  scratch_.write(file, R"({"prompts": ["a"]})");
  expect(StatusCode::kInvalidModel, {file, R"('prompts' is ["a"], must be an object)"});
  json many = json::object();
  for (int i = 0; i < 256; ++i)
    many["p" + std::to_string(i)] = "a ";
  scratch_.write(file, json{{"prompts", many}}.dump());
  EXPECT_TRUE(open().ok());
  many["one"] = "a ";
  scratch_.write(file, json{{"prompts", many}}.dump());
  expect(StatusCode::kUnsupported, {file, "'prompts' has 257 texts, more than the 256 supported"});
}

TEST_F(ModelFolderTest, APoolingMayLeaveAPromptOut) {
  scratch_.set("1_Pooling/config.json", "include_prompt", false);
  scratch_.write("config_sentence_transformers.json",
                 R"({"prompts": {"query": "q: "}, "default_prompt_name": "query"})");
  const auto model = open();
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_TRUE(model->documents().output().pools_here());
  EXPECT_EQ(*model->documents().input.prompts.choose({}), "q: ");
  scratch_.set("1_Pooling/config.json", "include_prompt", true);
  EXPECT_FALSE(open()->documents().output().pools_here());
}

TEST_F(ModelFolderTest, NoPromptMeetsAPoolingOfAnOnnxFileThatLeavesItOut) {
  scratch_.set("1_Pooling/config.json", "include_prompt", false);
  scratch_.write("config_sentence_transformers.json", R"({"prompts": {"query": "q: ", "none": ""}})");
  scratch_.write("onnx/model.onnx", std::string("\x3a\x00", 2));  // an empty graph
  const auto model = ModelFolder::open(scratch_.path(), {.onnx_file = "onnx/model.onnx"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_FALSE(model->documents().output().pools_here());
  EXPECT_EQ(*model->documents().input.prompts.choose({}), "");
  EXPECT_EQ(*model->documents().input.prompts.choose({.text = ""}), "");
  EXPECT_EQ(*model->documents().input.prompts.choose({.name = "none"}), "");
  for (const PromptChoice& choice : {PromptChoice{.text = "x"}, PromptChoice{.name = "query"}}) {
    const auto refused = model->documents().input.prompts.choose(choice);
    EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(refused.status().to_string(), HasSubstr("'include_prompt' is false"));
  }
  scratch_.set("config_sentence_transformers.json", "default_prompt_name", "query");
  const auto refused = ModelFolder::open(scratch_.path(), {.onnx_file = "onnx/model.onnx"});
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
  for (const char* part : {"config_sentence_transformers.json", "'default_prompt_name'", "1_Pooling"})
    EXPECT_THAT(refused.status().to_string(), HasSubstr(part));
}

TEST_F(ModelFolderTest, AnOnnxFileThatIsAskedForTakesThePlaceOfTheWeights) {
  const std::string file = "onnx/model_quantized.onnx";
  scratch_.write(file, std::string("\x3a\x00", 2));  // an empty graph
  scratch_.write("onnx/model.onnx", "text");
  EXPECT_FALSE(open()->documents().network.weights.empty());
  const auto model = ModelFolder::open(scratch_.path(), {.onnx_file = file});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->documents().network.onnx_file, scratch_.path() / file);
  EXPECT_TRUE(model->documents().network.weights.empty());
  EXPECT_EQ(model->documents().large_files(), std::vector{scratch_.path() / file});
  EXPECT_NE(model->documents().network.network, nullptr);

  std::filesystem::rename(scratch_.path() / "model.safetensors", scratch_.path() / "hidden");
  std::filesystem::rename(scratch_.path() / "onnx" / "model.onnx", scratch_.path() / "onnx" / "model_O3.onnx");
  expect(StatusCode::kNotFound, {"it has the ONNX files onnx/model_O3.onnx, onnx/model_quantized.onnx: "
                                 "embedding.onnx_file names one"});
  std::filesystem::rename(scratch_.path() / "onnx" / "model_O3.onnx", scratch_.path() / "onnx" / "model.onnx");

  const auto refusal = [&](const std::string& name, StatusCode code) {
    const auto refused = ModelFolder::open(scratch_.path(), {.onnx_file = name});
    EXPECT_EQ(refused.status().code(), code) << name;
    EXPECT_THAT(refused.status().to_string(),
                HasSubstr("has the ONNX files onnx/model.onnx, onnx/model_quantized.onnx"));
    return refused.status().to_string();
  };
  EXPECT_THAT(refusal("../x.onnx", StatusCode::kInvalidArgument), HasSubstr("leads out"));
  EXPECT_THAT(refusal("/x.onnx", StatusCode::kInvalidArgument), HasSubstr("leads out"));
  EXPECT_THAT(refusal("onnx/none.onnx", StatusCode::kNotFound), HasSubstr("is not a file of the model's folder"));
  EXPECT_THAT(refusal("onnx/model.onnx", StatusCode::kInvalidModel), HasSubstr("is not an ONNX file"));
}

}  // namespace
}  // namespace latebind::embedding
