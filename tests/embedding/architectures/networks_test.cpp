// The graph of every architecture against what transformers computes of the same weights (tests/data/networks/make.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "embedding/architectures/architecture.h"
#include "embedding/weights/safetensors.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::filesystem::path network_folder(const std::string& name) {
  return testing::data_folder() / (name == "jina_roberta" ? "cross_encoders" : "networks") / name;
}

const json& vectors_by_network() {
  static const json document = json::parse(testing::read_file(network_folder("expected.json")));
  return document;
}

json network_config(const std::string& name) {
  return json::parse(testing::read_file(network_folder(name) / "config.json"));
}

core::Result<std::shared_ptr<const Network>> read_network(const json& config) {
  const Architecture* const architecture = find_architecture(config["model_type"].get<std::string>());
  EXPECT_NE(architecture, nullptr);
  return architecture->read(json_of(config), "config.json");
}

// The graph as text, on the weights of that name, which is the type's unless given.
std::string describe_network(const json& config, std::string name = "") {
  if (name.empty()) name = config["model_type"].get<std::string>();
  const auto network = read_network(config);
  EXPECT_TRUE(network.ok()) << network.status().to_string();
  const auto weights = Safetensors::open(network_folder(name) / "model.safetensors");
  if (!network.ok() || !weights.ok()) return {};
  const auto graph = (*network)->make_graph(ModelWeights(*weights), {});
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return graph.ok() ? describe(*graph) : std::string();
}

// The vectors of that network's weights with this config.json are those of `expected`, by pooling.
void expect_vectors(const json& config, const std::string& name, const json& expected) {
  const auto network = read_network(config);
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  const auto weights = Safetensors::open(network_folder(name) / "model.safetensors");
  ASSERT_TRUE(weights.ok()) << weights.status().to_string();
  // Where it rounds in between, whatever the type: Gemma's and T5's norms are in f32.
  const double bound = name.starts_with("gemma") || name == "lfm2" || name.ends_with("t5") ? 1e-5 : 2e-6;
  for (const auto& [mode, key] : {std::pair{graph::PoolingMode::kMean, "mean"}, {graph::PoolingMode::kCls, "cls"}}) {
    const auto graph = (*network)->make_graph(ModelWeights(*weights), {.ends = {{.pooling = mode}}});
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    const auto vectors = testing::vectors_of(*graph, testing::batch_of(vectors_by_network()["ids"]));
    const json& wanted = expected[key];
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      EXPECT_EQ(wanted[row].size(), (*network)->hidden_size());
      for (std::size_t i = 0; i < wanted[row].size(); ++i) {
        EXPECT_NEAR(vectors.values[row * wanted[row].size() + i], wanted[row][i].get<double>(), bound)
            << key << " " << row << "," << i;
      }
    }
  }
}

std::string name_of_network(const ::testing::TestParamInfo<std::string>& given) {
  std::string name = given.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

class NetworkTest : public ::testing::TestWithParam<std::string> {};

TEST_P(NetworkTest, AgreesWithTheReference) {
  const auto network = read_network(network_config(GetParam()));
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_EQ((*network)->vocabulary_size(), 45U);
  // T5's distances have no limit.
  EXPECT_EQ((*network)->tokens_max(), GetParam().ends_with("t5") ? kTokensMax : 24U);
  expect_vectors(network_config(GetParam()), GetParam(), vectors_by_network()["vectors"][GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(All, NetworkTest,
                         ::testing::Values("albert", "deberta", "deberta-v2", "deberta-v2-conv", "distilbert",
                                           "electra", "ernie", "eurobert", "gemma", "gemma2", "gemma3_text", "gte",
                                           "jina_bert", "jina_embeddings_v3", "lfm2", "llama", "longformer", "mistral",
                                           "modernbert", "modernbert-decoder", "mpnet", "mt5", "nomic_bert",
                                           "nomic_moe", "qwen2", "qwen3", "roberta", "t5", "xlm-roberta-xl"),
                         name_of_network);

// Each key of config.json taken away, or with another value: the same vectors, or a refusal.
class ConfigKeysTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::filesystem::path folder() {
    return GetParam() == "bert" ? testing::tiny_bert("f32") : network_folder(GetParam());
  }
  // What these say is all that is known of it: another value is another network.
  static bool says_it_alone(const std::string& key) {
    static const std::vector<std::string> keys{"model_type",
                                               "num_attention_heads",
                                               "n_heads",
                                               "layer_norm_eps",
                                               "norm_eps",
                                               "local_attention",
                                               "layer_types",
                                               "query_pre_attn_scalar",
                                               "rope_parameters",
                                               "num_hidden_layers",
                                               "inner_group_num",
                                               "num_hidden_groups",
                                               "n_layers",
                                               "pos_att_type",
                                               "relative_attention",
                                               "norm_rel_ebd"};
    static const std::vector<std::pair<std::string, std::string>> keys_of_one{
        {"deberta", "position_biased_input"},
        {"deberta", "type_vocab_size"},
        {"deberta-v2", "max_position_embeddings"},
        {"deberta-v2", "max_relative_positions"},
        {"deberta-v2-conv", "conv_act"},
        {"deberta-v2-conv", "conv_kernel_size"},
        {"deberta-v2-conv", "max_relative_positions"},
        {"ernie", "use_task_id"},
        {"gemma2", "attn_logit_softcapping"},
        {"gemma2", "sliding_window"},
        {"gemma3_text", "sliding_window"},
        {"gte", "type_vocab_size"},
        {"jina_roberta", "pad_token_id"},
        {"lfm2", "conv_bias"},
        {"llama", "attention_bias"},
        {"llama", "mlp_bias"},
        {"longformer", "attention_window"},
        {"longformer", "pad_token_id"},
        {"mistral", "sliding_window"},
        {"modernbert-decoder", "attention_bias"},
        {"modernbert-decoder", "sliding_window"},
        {"mt5", "feed_forward_proj"},
        {"mt5", "relative_attention_max_distance"},
        {"nomic_moe", "layer_norm_epsilon"},
        {"nomic_moe", "mlp_fc1_bias"},
        {"nomic_moe", "mlp_fc2_bias"},
        {"nomic_moe", "n_head"},
        {"nomic_moe", "n_layer"},
        {"nomic_moe", "qkv_proj_bias"},
        {"nomic_moe", "rotary_emb_base"},
        {"qwen2", "sliding_window"},
        {"roberta", "pad_token_id"},
        {"xlm-roberta-xl", "pad_token_id"}};
    return std::ranges::find(keys, key) != keys.end() ||
           std::ranges::find(keys_of_one, std::pair(GetParam(), key)) != keys_of_one.end();
  }
};

TEST_P(ConfigKeysTest, WhatChangesTheNumbersIsReadOrRefused) {
  const json config = json::parse(testing::read_file(folder() / "config.json"));
  const auto weights = Safetensors::open(folder() / "model.safetensors");
  ASSERT_TRUE(weights.ok());
  const auto batch = testing::batch_of(vectors_by_network()["ids"]);
  const auto vectors = [&](const json& changed) -> std::vector<double> {
    const auto network = read_network(changed);
    if (!network.ok()) return {};
    const auto graph = (*network)->make_graph(ModelWeights(*weights), {});
    return graph.ok() ? testing::vectors_of(*graph, batch).values : std::vector<double>();
  };
  const auto same = vectors(config);
  ASSERT_FALSE(same.empty());
  for (const auto& [key, value] : config.items()) {
    if (says_it_alone(key)) continue;
    SCOPED_TRACE(key);
    json without = config;
    without.erase(key);
    json changed = config;
    changed[key] = value.is_string()    ? json("sigmoid")
                   : value.is_boolean() ? json(!value.get<bool>())
                   : value.is_number()  ? json(7)
                                        : json("x");
    for (const json& other : {without, changed}) {
      const auto found = vectors(other);
      EXPECT_TRUE(found.empty() || found == same);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConfigKeysTest,
                         ::testing::Values("albert", "bert", "deberta", "deberta-v2", "deberta-v2-conv", "distilbert",
                                           "electra", "ernie", "eurobert", "gemma", "gemma2", "gemma3_text", "gte",
                                           "jina_bert", "jina_embeddings_v3", "jina_roberta", "lfm2", "llama",
                                           "longformer", "mistral", "modernbert", "modernbert-decoder", "mpnet", "mt5",
                                           "nomic_bert", "nomic_moe", "qwen2", "qwen3", "roberta", "t5",
                                           "xlm-roberta-xl"),
                         name_of_network);

TEST(PoolerTest, GivesWhatTheReferencesPoolerDoes) {
  for (const auto& [name, wanted] : vectors_by_network()["pooled"].items()) {
    SCOPED_TRACE(name);
    const auto network = read_network(network_config(name));
    const auto weights = Safetensors::open(network_folder(name) / "model.safetensors");
    ASSERT_TRUE(network.ok() && weights.ok());
    const std::string pooler(find_architecture(name)->pooler);
    const auto graph = (*network)->make_graph(ModelWeights(*weights),
                                              {.ends = {{.pooling = graph::PoolingMode::kCls, .pooler = pooler}}});
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    const auto vectors = testing::vectors_of(*graph, testing::batch_of(vectors_by_network()["ids"]));
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      for (std::size_t i = 0; i < wanted[row].size(); ++i)
        EXPECT_NEAR(vectors.values[row * wanted[row].size() + i], wanted[row][i].get<double>(), 2e-6)
            << row << "," << i;
    }
  }
}

// Of the recorded folders in which no file names a class (tests/data/tokenizer_folders/make.py).
TEST(TokenizerOfNetworkTest, IsTheClassThatTheReferenceTakes) {
  std::istringstream cases(testing::read_file(testing::data_folder() / "tokenizer_folders" / "cases.jsonl"));
  std::size_t compared = 0;
  for (std::string line; std::getline(cases, line);) {
    const json recorded = json::parse(line);
    const json& config = recorded["config"];
    if (config.contains("tokenizer_class")) continue;
    if (recorded.value("tokenizer_config", json::object()).contains("tokenizer_class")) continue;
    EXPECT_EQ(tokenizer_of_network(json_of(config)).tokenizer_class, recorded["class"].get<std::string>()) << config;
    ++compared;
  }
  EXPECT_GT(compared, 15U);
  EXPECT_TRUE(tokenizer_of_network({{"model_type", "modernbert"}}).needs_tokenizer_json);
  EXPECT_EQ(tokenizer_of_network({{"model_type", 7}}).tokenizer_class, "");
}

TEST(RobertaConfigTest, PositionsBeginBehindThePadding) {
  json config = network_config("roberta");
  const auto tokens_max = [&] { return (*read_network(config))->tokens_max(); };
  EXPECT_EQ(tokens_max(), 24U);
  config.erase("pad_token_id");
  EXPECT_EQ(tokens_max(), 24U);
  config["pad_token_id"] = 24;
  EXPECT_EQ(tokens_max(), 1U);
  for (const json& wrong : {json(25), json(45), json(-1), json("<pad>"), json(nullptr)}) {
    config["pad_token_id"] = wrong;
    const auto refused = read_network(config).status();
    EXPECT_FALSE(refused.ok()) << wrong;
    EXPECT_THAT(refused.to_string(), HasSubstr("'pad_token_id'"));
  }
}

TEST(RobertaConfigTest, ItsRelativesAreTheSameNetwork) {
  json config = network_config("roberta");
  for (const char* type : {"xlm-roberta", "camembert"}) {
    config["model_type"] = type;
    EXPECT_EQ((*read_network(config))->tokens_max(), 24U);
  }
}

TEST(JinaRobertaConfigTest, RefusesWhatItDoesNotKnowByName) {
  const json config = network_config("jina_roberta");
  const auto with = [&](const char* key, const json& value) {
    json changed = config;
    changed[key] = value;
    return read_network(changed).status().to_string();
  };
  EXPECT_THAT(with("lora_adaptations", {"retrieval.query"}), HasSubstr("'lora_adaptations'"));
  EXPECT_THAT(with("emb_pooler", "cls"), HasSubstr("'emb_pooler'"));
  EXPECT_THAT(with("last_layer_subset", true), HasSubstr("'last_layer_subset'"));
  EXPECT_THAT(with("pad_vocab_size_multiple", 8), HasSubstr("'pad_vocab_size_multiple'"));
  EXPECT_THAT(with("position_embedding_type", "alibi"), HasSubstr("'position_embedding_type'"));
  // The same code in another repository, and other code, which is that of transformers.
  json other = config;
  other["auto_map"]["AutoConfig"] = "jinaai/flash--configuration_xlm_roberta.XLMRobertaFlashConfig";
  EXPECT_EQ(describe_network(other, "jina_roberta"), describe_network(config, "jina_roberta"));
  for (const json& map : {json(nullptr), json("x"), json{{"AutoConfig", 7}}, json{{"AutoConfig", "a.OtherConfig"}}}) {
    other["auto_map"] = map;
    const auto weights = Safetensors::open(network_folder("jina_roberta") / "model.safetensors");
    ASSERT_TRUE(weights.ok());
    EXPECT_THAT((*read_network(other))->make_graph(ModelWeights(*weights), {}).status().to_string(),
                HasSubstr("embeddings.LayerNorm"));
  }
}

TEST(MpnetConfigTest, TakesTheBucketsThatTheReferenceHas) {
  json config = network_config("mpnet");
  config["relative_attention_num_buckets"] = 64;
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'relative_attention_num_buckets' is 64; only 32"));
  config["relative_attention_num_buckets"] = nullptr;
  EXPECT_TRUE(read_network(config).ok());
  config["max_position_embeddings"] = 2;
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("no position after the padding's id 1"));
}

// The keys that ModernBERT had before transformers 5.
TEST(ModernBertConfigTest, OldFilesMeanTheSame) {
  const json config = network_config("modernbert");
  json old = config;
  old.erase("layer_types");
  old.erase("rope_parameters");
  old["global_rope_theta"] = 500.0;
  old["local_rope_theta"] = 40;
  EXPECT_EQ(describe_network(old), describe_network(config));
  old["global_attn_every_n_layers"] = 2;
  EXPECT_NE(describe_network(old), describe_network(config));
}

TEST(ModernBertConfigTest, RefusesWhatItDoesNotKnowByName) {
  const auto refusal_of = [](const char* key, const json& value) {
    json config = network_config("modernbert");
    config[key] = value;
    const auto network = read_network(config);
    return network.ok() ? "it was taken" : network.status().to_string();
  };
  EXPECT_THAT(refusal_of("layer_types", json::array({"full_attention"})), HasSubstr("not a list of 3 layers"));
  EXPECT_THAT(refusal_of("layer_types", json::array({"full_attention", "chunked_attention", "full_attention"})),
              HasSubstr("'layer_types' has \"chunked_attention\""));
  EXPECT_THAT(refusal_of("rope_scaling", json{{"factor", 2}}),
              HasSubstr("'rope_scaling' has 'factor' 2, which is not "));
  EXPECT_THAT(refusal_of("rope_scaling", 2), HasSubstr("'rope_scaling' is not an object"));
  EXPECT_THAT(refusal_of("rope_parameters", json{{"full_attention", {{"rope_type", "longrope"}}}}),
              HasSubstr("'full_attention' has the type 'longrope', which makes a text's angles depend on the longest "
                        "text of its batch; supported are default, dynamic, linear, llama3, ntk and yarn"));
  EXPECT_THAT(refusal_of("rope_parameters", json{{"full_attention", {{"rope_theta", 0}}}}), HasSubstr("of 0"));
  EXPECT_THAT(refusal_of("rope_parameters", json{{"full_attention", {{"rope_theta", 1e300}}}}), HasSubstr("1e+300"));
  EXPECT_THAT(refusal_of("rope_parameters", json{{"full_attention", 7}}), HasSubstr("not an object"));
  EXPECT_THAT(refusal_of("rope_parameters", json{{"other", json::object()}}), HasSubstr("'other'"));
  EXPECT_THAT(refusal_of("local_attention", 0), HasSubstr("'local_attention'"));
}

TEST(GteConfigTest, PublishedFilesMeanTheSame) {
  json published = network_config("gte");
  published.erase("rope_parameters");
  published["rope_theta"] = 300;
  published["rope_scaling"] = nullptr;
  published["position_embedding_type"] = "rope";
  published["layer_norm_type"] = "layer_norm";
  published["pack_qkv"] = true;
  EXPECT_EQ(describe_network(published), describe_network(network_config("gte")));
  // Copies of the published code, whose files differ in the type alone.
  for (const char* type : {"new", "Vietnamese"}) {
    json copy = published;
    copy["model_type"] = type;
    EXPECT_EQ(describe_network(copy, "gte"), describe_network(published)) << type;
  }
  published["rope_scaling"] = {{"type", "ntk"}, {"factor", 2.0}, {"mixed_b", 0.5}};
  EXPECT_THAT(read_network(published).status().to_string(),
              HasSubstr("'rope_scaling' has 'mixed_b' 0.5, which is not supported with the type ntk"));
  published["rope_scaling"] = nullptr;
  published["position_embedding_type"] = "absolute";
  EXPECT_THAT(read_network(published).status().to_string(), HasSubstr("only rope is supported"));
}

class ScaledPositionsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ScaledPositionsTest, AgreeWithTheReference) {
  const std::string name = GetParam().substr(0, GetParam().find('-'));
  const json& expected = vectors_by_network()["scaled"][GetParam()];
  json config = network_config(name);
  const std::string plain = describe_network(config);
  config.update(expected["changes"]);
  EXPECT_NE(describe_network(config), plain);
  expect_vectors(config, name, expected["vectors"]);
}

INSTANTIATE_TEST_SUITE_P(All, ScaledPositionsTest,
                         ::testing::Values("gte-linear", "gte-ntk", "modernbert-linear", "qwen3-bidirectional",
                                           "qwen3-llama3", "qwen3-yarn", "qwen3-yarn-scales"),
                         [](const auto& given) {
                           std::string name = given.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Both places where files have them, and what stands beside them.
TEST(ScaledPositionsConfigTest, OldFilesMeanTheSame) {
  json config = network_config("qwen3");
  config["rope_parameters"] = {{"rope_type", "yarn"}, {"factor", 4}, {"rope_theta", 300}};
  const std::string unsaid = describe_network(config);
  config["original_max_position_embeddings"] = 6;
  const std::string said = describe_network(config);
  EXPECT_NE(said, unsaid);
  config.erase("original_max_position_embeddings");
  config["rope_parameters"]["original_max_position_embeddings"] = 6;
  EXPECT_EQ(describe_network(config), said);
  config["rope_theta"] = 300;
  config["rope_scaling"] = {{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 6}};
  config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 5}};
  EXPECT_EQ(describe_network(config), said) << "the older key counts";

  json within = network_config("qwen3");
  const std::string plain = describe_network(within);
  within["rope_parameters"].update({{"rope_type", "dynamic"}, {"factor", 4}});
  EXPECT_EQ(describe_network(within), plain) << "no text is longer than the positions";

  json layers = network_config("modernbert");
  layers["rope_parameters"].erase("sliding_attention");
  layers["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 4}};
  const std::string both = describe_network(layers);
  layers["rope_scaling"] = nullptr;
  layers["rope_parameters"] = {{"full_attention", {{"rope_type", "linear"}, {"factor", 4}, {"rope_theta", 500}}},
                               {"sliding_attention", {{"rope_type", "linear"}, {"factor", 4}}}};
  EXPECT_EQ(describe_network(layers), both);
}

TEST(JinaBertConfigTest, RefusesWhatItDoesNotKnowByName) {
  json config = network_config("jina_bert");
  config["feed_forward_type"] = "reglu";
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'feed_forward_type' is \"reglu\"; only \"geglu\""));
  config.erase("feed_forward_type");
  config["position_embedding_type"] = "absolute";
  EXPECT_TRUE(read_network(config).ok()) << "which is BERT";
}

// transformers reads these, too, though few files have them: as said, or refused.
TEST(AddedKeysTest, WhatEveryNetworkHasIsRefusedByName) {
  for (const char* name : {"albert",        "deberta",
                           "deberta-v2",    "deberta-v2-conv",
                           "distilbert",    "electra",
                           "ernie",         "eurobert",
                           "gemma",         "gemma2",
                           "gemma3_text",   "gte",
                           "jina_bert",     "jina_embeddings_v3",
                           "lfm2",          "llama",
                           "longformer",    "mistral",
                           "modernbert",    "modernbert-decoder",
                           "mpnet",         "mt5",
                           "nomic_bert",    "nomic_moe",
                           "qwen2",         "qwen3",
                           "roberta",       "t5",
                           "xlm-roberta-xl"}) {
    SCOPED_TRACE(name);
    const json config = network_config(name);
    const auto with = [&](const char* key, const json& value) {
      json changed = config;
      changed[key] = value;
      return read_network(changed).status().to_string();
    };
    EXPECT_THAT(with("per_layer_config", {{"1", {{"intermediate_size", 8}}}}), HasSubstr("'per_layer_config'"));
    EXPECT_THAT(with("quantization_config", json::object()), HasSubstr("'quantization_config'"));
    static const std::vector<std::string> decoders{
        "gemma", "gemma2", "gemma3_text", "lfm2", "llama", "mistral", "modernbert-decoder", "qwen2", "qwen3"};
    static const std::vector<std::string> bidirectional{"gemma", "lfm2", "llama", "qwen3"};
    const bool is_decoder = std::ranges::find(decoders, name) != decoders.end();
    const bool takes_both = std::ranges::find(bidirectional, name) != bidirectional.end();
    for (const json& value : {json(true), json(false), json(nullptr)}) {
      json changed = config;
      changed["is_causal"] = value;
      const bool taken = value.is_boolean() && value.get<bool>() == is_decoder;
      const bool as_is = value.is_null() && !is_decoder;
      if (taken || as_is) {
        EXPECT_EQ(describe_network(changed, name), describe_network(config, name)) << value;
      } else if (!takes_both || value.is_null()) {
        EXPECT_THAT(read_network(changed).status().to_string(), HasSubstr("'is_causal'")) << value;
      }
    }
  }
}

TEST(Qwen3ConfigTest, WithoutACauseTokensSeeThoseBehindThem) {
  json config = network_config("qwen3");
  const auto cls_of = [&](const json& ids) {
    const auto weights = Safetensors::open(network_folder("qwen3") / "model.safetensors");
    const auto graph =
        (*read_network(config))->make_graph(ModelWeights(*weights), {.ends = {{.pooling = graph::PoolingMode::kCls}}});
    return testing::vectors_of(*graph, testing::batch_of(ids)).values;
  };
  const json some = {{7, 8, 9}};
  const json more = {{7, 8, 10}};
  EXPECT_EQ(cls_of(some), cls_of(more));
  config["is_causal"] = false;
  EXPECT_NE(cls_of(some), cls_of(more));
}

TEST(ModernBertConfigTest, TheOtherNameOfTheWindowCounts) {
  json config = network_config("modernbert");
  const std::string plain = describe_network(config);
  config["sliding_window"] = 4;
  EXPECT_EQ(describe_network(config), plain);
  config["sliding_window"] = 2;
  const std::string narrow = describe_network(config);
  EXPECT_NE(narrow, plain);
  config.erase("sliding_window");
  config["local_attention"] = 4;
  EXPECT_EQ(describe_network(config), narrow);
  for (const json& wrong : {json(0), json(2.5), json("2"), json(-1)}) {
    config["sliding_window"] = wrong;
    EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'sliding_window'")) << wrong;
  }
}

// transformers reads these keys, though it writes none of them.
TEST(RotaryConfigTest, AKeyThatIsAddedIsReadOrRefused) {
  for (const char* name : {"gte", "nomic_bert", "qwen3"}) {
    SCOPED_TRACE(name);
    json config = network_config(name);
    const std::string plain = describe_network(config);
    config["rope_theta"] = 7;
    EXPECT_EQ(describe_network(config), plain) << "what 'rope_parameters' says counts";
    config["rope_parameters"].erase("rope_theta");
    const std::string seven = describe_network(config);
    EXPECT_NE(seven, plain);
    config.erase("rope_parameters");
    EXPECT_EQ(describe_network(config), seven);
    for (const auto& [key, value] : {std::pair{"rope_theta", json("7")},
                                     {"rope_theta", json(0)},
                                     {"partial_rotary_factor", json(0.5)},
                                     {"rope_scaling", json{{"type", "linear"}, {"factor", 0}}},
                                     {"rope_scaling", json{{"type", "linear"}}},
                                     {"rope_scaling", json{{"type", "linear"}, {"factor", 2}, {"more", 1}}},
                                     {"rope_scaling", json{{"type", "longrope"}}},
                                     {"rope_scaling", json("linear")}}) {
      json wrong = config;
      wrong[key] = value;
      EXPECT_THAT(read_network(wrong).status().to_string(), HasSubstr(key));
    }
    config["rope_scaling"] = {{"type", 7}};
    EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'type' must be a string"));
    config["rope_scaling"] = {{"type", "yarn"}, {"factor", 2}, {"truncate", false}};
    EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'truncate' is false; only true is supported"));
  }
}

// transformers writes the factor into these where a configuration has it.
TEST(RotaryConfigTest, AllOfAHeadMayTurn) {
  for (const char* name : {"gte", "nomic_bert", "eurobert", "lfm2", "llama", "mistral", "qwen2", "qwen3", "gemma",
                           "gemma2", "gemma3_text", "modernbert", "modernbert-decoder"}) {
    SCOPED_TRACE(name);
    json config = network_config(name);
    const std::string plain = describe_network(config);
    json& parameters = config["rope_parameters"];
    json& one = parameters.contains("full_attention") ? parameters["full_attention"] : parameters;
    for (const json& whole : {json(1.0), json(1), json(nullptr)}) {
      one["partial_rotary_factor"] = whole;
      EXPECT_EQ(describe_network(config), plain) << whole;
    }
    for (const json& other : {json(0.5), json("1"), json(true)}) {
      one["partial_rotary_factor"] = other;
      EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'partial_rotary_factor'")) << other;
    }
  }
}

TEST(GemmaConfigTest, OldFilesMeanTheApproximation) {
  json config = network_config("gemma");
  const std::string plain = describe_network(config);
  config["hidden_act"] = "gelu";
  EXPECT_EQ(describe_network(config), plain);
}

TEST(T5ConfigTest, BucketsAndFeedForwardPartsThatDoNotFitAreRefused) {
  const auto refusal_of = [](const char* key, const json& value) {
    json config = network_config("t5");
    config[key] = value;
    return read_network(config).status().to_string();
  };
  EXPECT_THAT(refusal_of("is_decoder", true), HasSubstr("'is_decoder' is true"));
  EXPECT_THAT(refusal_of("feed_forward_proj", "gated-swish2"), HasSubstr("'feed_forward_proj'"));
  EXPECT_THAT(refusal_of("relative_attention_num_buckets", 30), HasSubstr("not a multiple of 4"));
  EXPECT_THAT(refusal_of("relative_attention_max_distance", 8), HasSubstr("'relative_attention_max_distance' 8"));
}

TEST(Gemma3ConfigTest, OldFilesMeanTheSame) {
  json config = network_config("gemma3_text");
  const std::string plain = describe_network(config);
  config.erase("layer_types");
  config.erase("rope_parameters");
  config["sliding_window_pattern"] = 3;
  config["rope_theta"] = 500;
  config["rope_local_base_freq"] = 40;
  EXPECT_EQ(describe_network(config), plain);
  config["rope_parameters"] = {{"rope_theta", 500}, {"rope_type", "default"}};
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'rope_parameters' has 'rope_theta'"));
}

TEST(Gemma3ConfigTest, DecodersAreRefused) {
  json config = network_config("gemma3_text");
  for (const json& value : {json(false), json(nullptr)}) {
    config["use_bidirectional_attention"] = value;
    EXPECT_FALSE(read_network(config).ok()) << value;
  }
  config.erase("use_bidirectional_attention");
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("only Gemma 3 encoders"));
}

TEST(Qwen2ConfigTest, OldFilesMeanTheSame) {
  json config = network_config("qwen2");
  const std::string plain = describe_network(config);
  EXPECT_THAT(plain, HasSubstr("window 5, causal"));
  config.erase("layer_types");
  EXPECT_EQ(describe_network(config), plain);
  config["use_sliding_window"] = false;
  EXPECT_THAT(describe_network(config), Not(HasSubstr("window")));
}

TEST(Qwen3ConfigTest, WindowsAndHeadsThatDoNotFitAreRefused) {
  const auto refusal_of = [](const char* key, const json& value) {
    json config = network_config("qwen3");
    config[key] = value;
    return read_network(config).status().to_string();
  };
  EXPECT_THAT(refusal_of("layer_types", {"full_attention", "sliding_attention"}),
              HasSubstr("'layer_types' has sliding_attention, but 'use_sliding_window' is not true"));
  EXPECT_THAT(refusal_of("layer_types", {"full_attention", "chunked_attention"}), HasSubstr("'layer_types' has"));
  EXPECT_THAT(refusal_of("layer_types", {"full_attention"}), HasSubstr("not a list of 2 layers"));
  EXPECT_THAT(refusal_of("num_key_value_heads", 3), HasSubstr("not a multiple of 'num_key_value_heads' 3"));
  EXPECT_THAT(refusal_of("head_dim", nullptr), HasSubstr("'head_dim'"));
}

// The published checkpoints' own keys.
TEST(NomicBertConfigTest, PublishedFilesMeanTheSame) {
  const json published{{"model_type", "nomic_bert"},
                       {"n_embd", 32},
                       {"n_layer", 2},
                       {"n_head", 4},
                       {"n_inner", 48},
                       {"n_positions", 24},
                       {"vocab_size", 45},
                       {"type_vocab_size", 2},
                       {"layer_norm_epsilon", 1e-12},
                       {"rotary_emb_base", 1000},
                       {"causal", false},
                       {"activation_function", "swiglu"},
                       {"rotary_emb_fraction", 1.0},
                       {"prenorm", false},
                       {"rotary_scaling_factor", nullptr}};
  EXPECT_EQ(describe_network(published), describe_network(network_config("nomic_bert")));
  const auto refusal_of = [&](const char* key, const json& value) {
    json config = published;
    config[key] = value;
    const auto network = read_network(config);
    return network.ok() ? "it was taken" : network.status().to_string();
  };
  for (const char* key : {"causal", "prenorm", "parallel_block", "use_rms_norm", "rotary_emb_interleaved",
                          "scale_attn_by_inverse_layer_idx"}) {
    EXPECT_THAT(refusal_of(key, true), AllOf(HasSubstr(key), HasSubstr("only false"))) << key;
  }
  EXPECT_THAT(refusal_of("rotary_emb_fraction", 0.5), HasSubstr("'rotary_emb_fraction' is 0.5"));
  EXPECT_THAT(refusal_of("rotary_scaling_factor", 2), HasSubstr("'rotary_scaling_factor' is 2"));
  EXPECT_THAT(refusal_of("activation_function", "gelu_new"), HasSubstr("supported are swiglu and gelu"));
  EXPECT_EQ(refusal_of("num_experts", 8), "it was taken") << "because no layer has them";
}

TEST(NomicBertConfigTest, ExpertsOfOtherKindsAreRefused) {
  const json config = network_config("nomic_moe");
  EXPECT_THAT(describe_network(config, "nomic_moe"), HasSubstr("experts %24 by %25, 2 chosen"));
  const auto refusal_of = [&](const char* key, const json& value) {
    json changed = config;
    changed[key] = value;
    const auto network = read_network(changed);
    return network.ok() ? "it was taken" : network.status().to_string();
  };
  EXPECT_THAT(refusal_of("expert_choice_router", true), HasSubstr("'expert_choice_router' is true; only false"));
  EXPECT_THAT(refusal_of("moe_normalize_expert_weights", 1), HasSubstr("'moe_normalize_expert_weights' is 1"));
  EXPECT_THAT(refusal_of("num_shared_experts", 1), HasSubstr("'num_shared_experts' is 1; only 0"));
  EXPECT_THAT(refusal_of("ffn_div", 2), HasSubstr("'ffn_div' is 2"));
  EXPECT_THAT(refusal_of("moe_top_k", 5), HasSubstr("'moe_top_k'"));
  EXPECT_THAT(refusal_of("moe_top_k", nullptr), HasSubstr("'moe_top_k' is missing"));
  EXPECT_THAT(refusal_of("num_experts", 1 << 20), HasSubstr("'num_experts'"));
  EXPECT_THAT(refusal_of("activation_function", "swiglu"), HasSubstr("'num_experts' without an 'activation_function'"));
}

TEST(Gemma2ConfigTest, CapsAndWindowsThatAreNoneAreRefused) {
  json config = network_config("gemma2");
  const std::string plain = describe_network(config);
  EXPECT_THAT(plain, HasSubstr("soft cap 0x1p+1, window 5, causal"));
  config.erase("layer_types");
  EXPECT_EQ(describe_network(config), plain);
  config["attn_logit_softcapping"] = nullptr;
  EXPECT_THAT(describe_network(config), Not(HasSubstr("soft cap")));
  config["final_logit_softcapping"] = 7;  // of the head alone
  EXPECT_THAT(describe_network(config), HasSubstr("window 5"));
  for (const json& wrong : {json(0), json(-1), json("50"), json(1e30)}) {
    config["attn_logit_softcapping"] = wrong;
    EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'attn_logit_softcapping'")) << wrong;
  }
  config.erase("attn_logit_softcapping");
  EXPECT_THAT(describe_network(config), HasSubstr("soft cap 0x1.9p+5"));
  config["sliding_window"] = nullptr;
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'sliding_window' is null"));
}

TEST(TokenHeadTest, SoftCapsAreThoseOfTheReference) {
  const auto cap_of = [](ReadTokenHead* read, const json& config) {
    const auto head = read(json_of(config), "config.json");
    return head.ok() ? head->soft_cap.value_or(0) : -1;
  };
  EXPECT_EQ(cap_of(read_gemma_token_head, json::object()), 0);
  EXPECT_EQ(cap_of(read_gemma2_token_head, json::object()), 30);
  EXPECT_EQ(cap_of(read_gemma2_token_head, {{"final_logit_softcapping", nullptr}}), 0);
  EXPECT_EQ(cap_of(read_token_head, {{"final_logit_softcapping", 7}}), 7);
  // Beyond what f32 can divide by.
  for (const json& wrong : {json(1e300), json(1e-60), json(0), json("7")})
    EXPECT_EQ(cap_of(read_token_head, {{"final_logit_softcapping", wrong}}), -1) << wrong;
}

TEST(LongformerConfigTest, WindowsThatAreNoneAreRefused) {
  json config = network_config("longformer");
  EXPECT_THAT(describe_network(config), AllOf(HasSubstr("window 2"), HasSubstr("window 4")));
  config["attention_window"] = 8;
  EXPECT_THAT(describe_network(config), Not(HasSubstr("window 2")));
  config.erase("attention_window");
  EXPECT_THAT(describe_network(config), HasSubstr("window 256"));
  for (const json& wrong : {json(7), json(0), json(nullptr), json("8"), json({4}), json({4, 3}), json(1 << 20)}) {
    config["attention_window"] = wrong;
    EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'attention_window'")) << wrong;
  }
}

TEST(Lfm2ConfigTest, OldFilesMeanTheSame) {
  json config = network_config("lfm2");
  const std::string plain = describe_network(config);
  config.erase("layer_types");
  config["full_attn_idxs"] = {1};
  config["block_ff_dim"] = config["intermediate_size"];
  config["intermediate_size"] = 7;
  EXPECT_EQ(describe_network(config), plain);
  config["full_attn_idxs"] = {0.5};
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'full_attn_idxs' has 0.5"));
  config["layer_types"] = {"conv", "sliding_attention", "conv"};
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'layer_types' has"));
}

TEST(Lfm2ConfigTest, ExpandedQueriesAreRefused) {
  const auto network = read_network(network_config("lfm2"));
  const auto weights = Safetensors::open(network_folder("lfm2") / "model.safetensors");
  const auto graph =
      (*network)->make_graph(ModelWeights(*weights), {.ends = {{.token_vectors = true}}, .may_be_unattended = true});
  EXPECT_THAT(graph.status().to_string(), HasSubstr("with which this model expands queries"));
}

// The keys as published files have them: words in one string, and sizes that mean an absent feature.
TEST(DebertaConfigTest, PublishedFilesMeanTheSame) {
  for (const char* name : {"deberta", "deberta-v2", "deberta-v2-conv"}) {
    SCOPED_TRACE(name);
    const json config = network_config(name);
    json published = config;
    published["pos_att_type"] = "P2C | c2p";
    if (!published.contains("conv_kernel_size")) published["conv_kernel_size"] = 0;
    EXPECT_EQ(describe_network(published, name), describe_network(config, name));
  }
  json third = network_config("deberta-v2");
  const std::string plain = describe_network(third);
  EXPECT_THAT(plain, HasSubstr("disentangled over 8 up to 24, keys %"));
  third.erase("max_relative_positions");
  EXPECT_EQ(describe_network(third), plain);
  third["max_relative_positions"] = 24;
  EXPECT_EQ(describe_network(third), plain);
  third["pos_att_type"] = "c2p";
  EXPECT_THAT(describe_network(third), Not(HasSubstr("queries %")));
  third["relative_attention"] = false;
  EXPECT_THAT(describe_network(third), Not(HasSubstr("disentangled")));
}

TEST(DebertaConfigTest, RefusesWhatItDoesNotKnowByName) {
  const auto refusal_of = [](const char* name, const char* key, const json& value) {
    json config = network_config(name);
    config[key] = value;
    const auto network = read_network(config);
    return network.ok() ? "it was taken" : network.status().to_string();
  };
  EXPECT_THAT(refusal_of("deberta", "pos_att_type", "c2p|p2c|p2p"), HasSubstr("'pos_att_type' is 'p2p'"));
  EXPECT_THAT(refusal_of("deberta", "pos_att_type", json::array({"c2p", "c2p"})), HasSubstr("has 'c2p' twice"));
  EXPECT_THAT(refusal_of("deberta", "pos_att_type", json::array({7})), HasSubstr("not a string"));
  EXPECT_THAT(refusal_of("deberta", "pos_att_type", ""), HasSubstr("'pos_att_type'"));
  EXPECT_THAT(refusal_of("deberta", "talking_head", true), HasSubstr("'talking_head'"));
  EXPECT_THAT(refusal_of("deberta", "max_relative_positions", 5000), HasSubstr("'max_relative_positions'"));
  EXPECT_THAT(refusal_of("deberta-v2", "position_buckets", 7), HasSubstr("'position_buckets' is 7"));
  EXPECT_THAT(refusal_of("deberta-v2", "position_buckets", 2), HasSubstr("'position_buckets' is 2"));
  EXPECT_THAT(refusal_of("deberta-v2", "max_relative_positions", 5), HasSubstr("below twice the 5 relative"));
  EXPECT_THAT(refusal_of("deberta-v2", "norm_rel_ebd", "batch_norm"), HasSubstr("'norm_rel_ebd'"));
  EXPECT_THAT(refusal_of("deberta-v2", "attention_head_size", 12), HasSubstr("'attention_head_size' is 12"));
  EXPECT_THAT(refusal_of("deberta-v2-conv", "conv_kernel_size", 4), HasSubstr("'conv_kernel_size' is 4"));
  EXPECT_THAT(refusal_of("deberta-v2-conv", "conv_groups", 2), HasSubstr("'conv_groups' is 2"));
  EXPECT_THAT(refusal_of("deberta-v2-conv", "conv_act", "sigmoid"), HasSubstr("'conv_act'"));
}

TEST(DistilBertConfigTest, TwoNamesForASizeMustAgree) {
  json config = network_config("distilbert");
  config["hidden_size"] = 32;
  EXPECT_TRUE(read_network(config).ok());
  config["hidden_size"] = 64;
  const auto refused = read_network(config).status();
  EXPECT_EQ(refused.code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(refused.to_string(), AllOf(HasSubstr("'hidden_size'"), HasSubstr("'dim'")));
}

}  // namespace
}  // namespace latebind::embedding
