// What is no model, and what is no model that is supported: each is refused by its name.
#include "tests/embedding/folder/model_folder_fixture.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Puts the vocabulary of tokenizer.json into vocab.txt.
void write_vocabulary(const testing::ScratchFolder& folder) {
  const auto tokenizer = json::parse(testing::read_file(folder.path() / "tokenizer.json"));
  std::vector<std::string> lines(tokenizer["model"]["vocab"].size());
  for (const auto& [token, id] : tokenizer["model"]["vocab"].items())
    lines.at(id.get<std::size_t>()) = token;
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  folder.write("vocab.txt", text);
}

TEST_F(ModelFolderTest, WithoutATokenizerMakesOneOfTheVocabulary) {
  const auto before = open()->documents().open_tokenizer();
  ASSERT_TRUE(before.ok());
  write_vocabulary(scratch_);
  EXPECT_EQ(open()->documents().input.tokenizer_file.filename(), "tokenizer.json");
  EXPECT_THAT(open()->documents().small_files, Not(Contains(scratch_.path() / "vocab.txt")));
  std::filesystem::remove(scratch_.path() / "tokenizer.json");
  scratch_.write("special_tokens_map.json", R"({"unk_token": "[UNK]"})");
  const auto model = open();
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->documents().input.tokenizer_file, scratch_.path() / "vocab.txt");
  for (const char* name : {"vocab.txt", "special_tokens_map.json"})
    EXPECT_THAT(model->documents().small_files, Contains(scratch_.path() / name));
  const auto tokenizer = model->documents().open_tokenizer();
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  for (const char* text : {"", "hello world", "The cat [MASK] sleeps.", "na\u00efve"}) {
    std::vector<std::int32_t> expected;
    std::vector<std::int32_t> ids;
    ASSERT_TRUE(before->encode(text, 100, expected).ok());
    ASSERT_TRUE(tokenizer->encode(text, 100, ids).ok());
    EXPECT_EQ(ids, expected) << text;
  }
  scratch_.write("tokenizer_config.json", R"({"cls_token": {"content": "[CLS]"}})");
  EXPECT_THAT(open()->documents().open_tokenizer().status().to_string(),
              HasSubstr("WithoutATokenizerMakesOneOfTheVocabulary: tokenizer_config.json: 'cls_token' is neither"));
  scratch_.write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  expect(StatusCode::kUnsupported, {"tokenizer_config.json", "PreTrainedTokenizerFast", "needs a tokenizer.json"});
}

TEST_F(ModelFolderTest, NamesTheMissingPartOfAVocabulary) {
  std::filesystem::remove(scratch_.path() / "tokenizer.json");
  scratch_.write("vocab.json", "{}");
  scratch_.write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})");
  expect(StatusCode::kNotFound,
         {"is not a model folder", "merges.txt (of RobertaTokenizer; or tokenizer.json) missing"});
  scratch_.write("tokenizer_config.json", "{}");
  expect(StatusCode::kNotFound, {"vocab.txt (of BertTokenizer; or tokenizer.json) missing"});
}

TEST_F(ModelFolderTest, RefusesWhatWouldChangeTheTokensByName) {
  scratch_.write("tokenizer_config.json", R"({"truncation_side": "left"})");
  expect(StatusCode::kUnsupported, {"tokenizer_config.json", "'truncation_side' is 'left'"});
  scratch_.write("tokenizer_config.json", R"({"split_special_tokens": true})");
  expect(StatusCode::kUnsupported, {"tokenizer_config.json", "'split_special_tokens'"});
  scratch_.write("tokenizer_config.json", R"({"truncation_side": "right", "split_special_tokens": false})");
  EXPECT_TRUE(ModelFolder::open(scratch_.path()).ok());
}

TEST_F(ModelFolderTest, RefusesAbsurdSizes) {
  for (const char* key : {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size",
                          "max_position_embeddings", "type_vocab_size"}) {
    const auto before = json::parse(testing::read_file(scratch_.path() / "config.json"))[key];
    for (const json& value : {json(0), json(-1), json(9223372036854775807), json(18446744073709551615U), json(1e300),
                              json("32"), json(1.5), json::array()}) {
      scratch_.set("config.json", key, value);
      expect(StatusCode::kInvalidModel, {"config.json", key});
    }
    scratch_.set("config.json", key, nullptr);
    expect(StatusCode::kInvalidModel, {"config.json", key, "missing"});
    scratch_.set("config.json", key, before);
  }
  scratch_.set("config.json", "num_attention_heads", 5);
  expect(StatusCode::kInvalidModel, {"hidden_size", "multiple"});
  scratch_.set("config.json", "num_attention_heads", 4);
  for (const json& value : {json(-1e-12), json(1), json("small")}) {
    scratch_.set("config.json", "layer_norm_eps", value);
    expect(StatusCode::kInvalidModel, {"layer_norm_eps"});
  }
}

TEST_F(ModelFolderTest, RefusesVariantsOfBertByName) {
  struct Case {
    const char* key;
    json value;
  };
  for (const Case& refused : {Case{"model_type", "whisper"}, Case{"hidden_act", "quick_gelu"},
                              Case{"position_embedding_type", "relative_key"}, Case{"is_decoder", true},
                              Case{"pruned_heads", {{"0", {1}}}}, Case{"quantization_config", json::object()}}) {
    const auto document = json::parse(testing::read_file(scratch_.path() / "config.json"));
    scratch_.set("config.json", refused.key, refused.value);
    expect(StatusCode::kUnsupported, {"config.json", refused.key});
    scratch_.write("config.json", document.dump());
  }
  scratch_.set("sentence_bert_config.json", "do_lower_case", true);
  expect(StatusCode::kUnsupported, {"sentence_bert_config.json", "do_lower_case"});
}

TEST_F(ModelFolderTest, RefusalsNameTheNearestThatWorksAndAllThatDo) {
  struct Case {
    const char* file;
    const char* key;
    const char* value;
    std::string nearest;
    const char* listed;
  };
  const std::string_view modules = "supported are Transformer and Pooling";
  scratch_.write("config_sentence_transformers.json", "{}");
  for (const Case& refused :
       {Case{"config.json", "model_type", "xlm-roberta-xxl", "xlm-roberta-xl",
             "without an ONNX file, these work: albert, bert, bidirectional_pplx_qwen3, camembert"},
        Case{"config.json", "hidden_act", "quick_gelu", "gelu", "supported are gelu, gelu_python, gelu_new"},
        Case{"config.json", "hidden_act", "ReLU6", "relu", "silu, swish and tanh"},
        Case{"config.json", "position_embedding_type", "alibi_biased", "alibi", "supported are absolute and alibi"},
        Case{"1_Pooling/config.json", "pooling_mode", "mean_tokens", "mean", "supported are cls, mean, max"},
        Case{"1_Pooling/config.json", "pooling_mode_mean_token", "yes", "pooling_mode_mean_tokens",
             "supported are pooling_mode_cls_token"},
        Case{"config_sentence_transformers.json", "model_type", "SparseEncoders", "SparseEncoder",
             "supported are SentenceTransformer"}}) {
    const std::string path = refused.file;
    const auto document = json::parse(testing::read_file(scratch_.path() / path));
    if (std::string_view(refused.key) == "pooling_mode_mean_token") {
      scratch_.set(path, "pooling_mode", nullptr);
    }
    scratch_.set(path, refused.key, refused.value);
    expect(StatusCode::kUnsupported, {std::filesystem::path(path).make_preferred().string(), refused.key,
                                      "the nearest supported name is " + refused.nearest + ";", refused.listed});
    scratch_.write(path, document.dump());
  }
  const json list = json::parse(testing::read_file(scratch_.path() / "modules.json"));
  const auto expect_module = [&](const char* type, const char* nearest) {
    json changed = list;
    changed[1]["type"] = type;
    scratch_.write("modules.json", changed.dump());
    expect(StatusCode::kUnsupported, {"modules.json", type, nearest, std::string(modules)});
  };
  expect_module("sentence_transformers.models.WeightedLayerPooling",
                "the nearest supported name is sentence_transformers.models.Pooling;");
  expect_module("mine.Pooling", "the nearest supported name is sentence_transformers.models.Pooling;");
  expect_module("sentence_transformers.models.CNN", "as number 2 is not supported; supported are");
  // Its name is known: what is wrong is its place.
  expect_module("sentence_transformers.models.Router", "as number 2 is not supported; supported are");
}

TEST_F(ModelFolderTest, OtherAdaptersThanLoraAreRefusedByTheirFile) {
  scratch_.write("adapter_config.json", R"({"peft_type": "IA3", "base_model_name_or_path": "x"})");
  expect(StatusCode::kUnsupported, {"adapter_config.json", "'peft_type' is 'IA3'", "merge"});
}

TEST_F(ModelFolderTest, SaysWhatIsMissing) {
  const std::string list = testing::read_file(scratch_.path() / "modules.json");
  json elsewhere = json::parse(list);
  elsewhere[0]["path"] = "0_Transfomer";
  scratch_.write("modules.json", elsewhere.dump());
  expect(StatusCode::kNotFound,
         {"config.json, model.safetensors, pytorch_model.bin or onnx/model.onnx missing in '0_Transfomer', the "
          "folder of its first module"});
  scratch_.write("modules.json", list);
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"}) {
    const auto file = scratch_.path() / name;
    std::filesystem::rename(file, scratch_.path() / "hidden");
    expect(StatusCode::kNotFound, {"is not a model folder", name, "a model folder holds"});
    std::filesystem::rename(scratch_.path() / "hidden", file);
  }
  const auto nowhere = ModelFolder::open(scratch_.path() / "nowhere");
  EXPECT_EQ(nowhere.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(nowhere.status().to_string(), HasSubstr("no such folder"));
  const auto file = ModelFolder::open(scratch_.path() / "config.json");
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(file.status().to_string(), HasSubstr("it is a file"));
  EXPECT_EQ(ModelFolder::open("").status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ModelFolderTest, AListOfPiecesThatAreNotThereLeavesTheOnnxFile) {
  std::filesystem::remove(scratch_.path() / "model.safetensors");
  scratch_.write("model.safetensors.index.json", R"({"weight_map": {"a": "one.safetensors"}})");
  expect(StatusCode::kNotFound, {"the piece 'one.safetensors' of the weights is missing"});
  scratch_.write("onnx/model.onnx", "x");
  ASSERT_TRUE(open().ok()) << open().status().to_string();
  EXPECT_TRUE(open()->documents().network.weights.empty());
  EXPECT_TRUE(open()->documents().network.onnx_file);
  // Nobody reads the list of a model that is not known.
  scratch_.set("config.json", "model_type", "whisper");
  scratch_.write("model.safetensors.index.json", "no JSON");
  EXPECT_TRUE(open().ok()) << open().status().to_string();
}

TEST_F(ModelFolderTest, TakesAReadyOnnxFileOfAnyArchitecture) {
  std::filesystem::remove(scratch_.path() / "model.safetensors");
  scratch_.write("onnx/model.onnx", "x");
  ASSERT_TRUE(open().ok()) << open().status().to_string();
  EXPECT_EQ(open()->documents().network.onnx_file, scratch_.path() / "onnx" / "model.onnx");
  EXPECT_TRUE(open()->documents().network.weights.empty());
  scratch_.set("config.json", "model_type", "whisper");
  const auto other = open();
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->documents().network.network, nullptr);
  EXPECT_EQ(other->documents().network.hidden_size, 32U);
  std::filesystem::rename(scratch_.path() / "onnx" / "model.onnx", scratch_.path() / "model.onnx");
  EXPECT_EQ(open()->documents().network.onnx_file, scratch_.path() / "model.onnx");
}

TEST_F(ModelFolderTest, RefusesDamagedFilesWithTheirNames) {
  for (const char* name : {"config.json", "modules.json", "sentence_bert_config.json", "1_Pooling/config.json"}) {
    const std::string before = testing::read_file(scratch_.path() / name);
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("7"), std::string("\xff\xfe{}"),
          std::string("{\"a\": 1, \"a\": 2}"), std::string(100, '['), std::string(std::size_t{2} << 20, ' ')}) {
      scratch_.write(name, text);
      expect(StatusCode::kInvalidModel, {name});
    }
    scratch_.write(name, before);
  }
}

}  // namespace
}  // namespace latebind::embedding
