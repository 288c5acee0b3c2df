// The graph against vectors that an implementation of its own made (tests/data/tiny-bert/make.py), for every pooling
// mode and every type of weights.
#include "embedding/architectures/bert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "embedding/weights/safetensors.h"
#include "kit/reference/array.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using core::Result;
using graph::PoolingMode;
using kit::Array;
using nlohmann::json;
using testing::batch_of;
using testing::vectors_of;

const json& expected() {
  static const json document = json::parse(testing::read_file(testing::data_folder() / "tiny-bert" / "expected.json"));
  return document;
}

struct Model {
  BertConfig config;
  ModelWeights weights;
};

Result<BertConfig> read_config(const json& config) {
  return read_bert_config(json_of(config), "config.json");
}

json config_of(const std::filesystem::path& folder) {
  return json::parse(testing::read_file(folder / "config.json"));
}

Model open(const std::filesystem::path& folder) {
  auto config = read_config(config_of(folder));
  EXPECT_TRUE(config.ok()) << config.status().to_string();
  auto weights = Safetensors::open(folder / "model.safetensors");
  EXPECT_TRUE(weights.ok()) << weights.status().to_string();
  return {*std::move(config), ModelWeights(*std::move(weights))};
}

class BertGraphTest : public ::testing::TestWithParam<std::tuple<std::string, std::pair<std::string, PoolingMode>>> {};

TEST_P(BertGraphTest, AgreesWithTheReference) {
  const auto& [kind, pooling] = GetParam();
  const Model model = open(testing::tiny_bert(kind));
  for (const bool normalize : {false, true}) {
    const auto graph =
        make_bert_graph(model.config, model.weights, {.ends = {{.pooling = pooling.second, .normalize = normalize}}});
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    EXPECT_EQ(graph->output_name(), "sentence_embedding");
    const auto batch = batch_of(expected()["ids"]);
    const Array vectors = vectors_of(*graph, batch);
    const json& wanted = expected()["vectors"][kind][pooling.first];
    ASSERT_EQ(vectors.shape, (std::vector<std::int64_t>{static_cast<std::int64_t>(wanted.size()), 32}));
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      double length = 0;
      for (const json& value : wanted[row])
        length += value.get<double>() * value.get<double>();
      const double scale = normalize ? 1 / std::sqrt(length) : 1;
      for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_NEAR(vectors.values[row * 32 + i], wanted[row][i].get<double>() * scale, 2e-6) << row << "," << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    EveryTypeAndPooling, BertGraphTest,
    ::testing::Combine(::testing::Values("f32", "f16", "bf16"),
                       ::testing::Values(std::pair("cls", PoolingMode::kCls), std::pair("mean", PoolingMode::kMean),
                                         std::pair("max", PoolingMode::kMax),
                                         std::pair("lasttoken", PoolingMode::kLastToken))),
    [](const auto& given) { return std::get<0>(given.param) + "_" + std::get<1>(given.param).first; });

TEST(BertGraphOptionsTest, HiddenStatesAreTheTokenVectors) {
  const Model model = open(testing::tiny_bert("f32"));
  const auto graph = make_bert_graph(model.config, model.weights, {.ends = {{.hidden_states = true}}});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->output_name(), "last_hidden_state");
  const json ids = json::array({expected()["ids"][1]});
  const auto batch = batch_of(ids);
  const Array states = vectors_of(*graph, batch);
  const auto tokens = ids[0].size();
  ASSERT_EQ(states.shape, (std::vector<std::int64_t>{1, static_cast<std::int64_t>(tokens), 32}));
  const json& last = expected()["vectors"]["f32"]["lasttoken"][1];
  for (std::size_t i = 0; i < 32; ++i)
    EXPECT_NEAR(states.values[(tokens - 1) * 32 + i], last[i].get<double>(), 2e-6);
}

TEST(BertGraphOptionsTest, KnowsTheNamesOfOtherCheckpoints) {
  const testing::ScratchFolder scratch;
  scratch.copy_tiny_bert();
  std::string file = testing::read_file(scratch.path() / "model.safetensors");
  const auto old_size = static_cast<unsigned char>(file[0]) | static_cast<unsigned char>(file[1]) << 8U;
  const json header = json::parse(file.substr(8, static_cast<std::size_t>(old_size)));
  json renamed;
  for (const auto& [name, tensor] : header.items()) {
    std::string other = "bert." + name;
    if (const auto at = other.find("LayerNorm.weight"); at != std::string::npos) other.replace(at + 10, 6, "gamma");
    if (const auto at = other.find("LayerNorm.bias"); at != std::string::npos) other.replace(at + 10, 4, "beta");
    renamed[name == "__metadata__" ? name : other] = tensor;
  }
  file.erase(0, 8 + static_cast<std::size_t>(old_size));
  scratch.write("model.safetensors", testing::safetensors(renamed.dump(), 0) + file);

  const Model model = open(scratch.path());
  const auto graph = make_bert_graph(model.config, model.weights, {});
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const auto batch = batch_of(json::array({expected()["ids"][3]}));
  const Model plain = open(testing::tiny_bert("f32"));
  const auto same = make_bert_graph(plain.config, plain.weights, {});
  EXPECT_EQ(vectors_of(*graph, batch).values, vectors_of(*same, batch).values);
}

TEST(BertGraphOptionsTest, NamesTheTensorThatDoesNotFit) {
  Model model = open(testing::tiny_bert("f32"));
  model.config.sizes.intermediate = 64;
  const auto graph = make_bert_graph(model.config, model.weights, {});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), core::StatusCode::kInvalidModel);
  EXPECT_THAT(graph.status().to_string(), ::testing::HasSubstr("encoder.layer.0.intermediate.dense.weight"));
  model.config.sizes.intermediate = 48;
  model.config.sizes.layers = 3;
  EXPECT_THAT(make_bert_graph(model.config, model.weights, {}).status().to_string(),
              ::testing::HasSubstr("no tensor 'encoder.layer.2"));
}

TEST(BertConfigTest, ReadsItsFigures) {
  const auto bert = read_config(config_of(testing::tiny_bert("f32")));
  ASSERT_TRUE(bert.ok()) << bert.status().to_string();
  EXPECT_EQ(bert->sizes.hidden, 32U);
  EXPECT_EQ(bert->sizes.layers, 2U);
  EXPECT_EQ(bert->sizes.heads, 4U);
  EXPECT_EQ(bert->sizes.intermediate, 48U);
  EXPECT_EQ(bert->sizes.positions, 24U);
  EXPECT_EQ(bert->token_type_count, 2U);
  EXPECT_EQ(bert->sizes.epsilon, 1e-12F);
  EXPECT_EQ(bert->sizes.activation, graph::ActivationFunction::kGeluErf);
}

TEST(BertConfigTest, KnowsTheNamesOfActivations) {
  json config = config_of(testing::tiny_bert("f32"));
  using graph::ActivationFunction;
  for (const auto& [name, function] :
       {std::pair("gelu", ActivationFunction::kGeluErf), std::pair("gelu_python", ActivationFunction::kGeluErf),
        std::pair("gelu_new", ActivationFunction::kGeluTanh), std::pair("gelu_fast", ActivationFunction::kGeluTanh),
        std::pair("gelu_pytorch_tanh", ActivationFunction::kGeluTanh), std::pair("relu", ActivationFunction::kRelu)}) {
    config["hidden_act"] = name;
    EXPECT_EQ(read_config(config)->sizes.activation, function);
  }
}

TEST(ArchitecturesTest, AreFoundByTheNameThatConfigJsonHasForThem) {
  ASSERT_FALSE(architectures().empty());
  for (const Architecture& architecture : architectures()) {
    EXPECT_EQ(find_architecture(architecture.model_type), &architecture);
    EXPECT_THAT(known_architectures("unheard of"), ::testing::HasSubstr(std::string(architecture.model_type)));
  }
  EXPECT_EQ(find_architecture("unheard of"), nullptr);
  EXPECT_EQ(find_architecture(""), nullptr);
}

}  // namespace
}  // namespace latebind::embedding
