// The graph of every architecture against what transformers computes of the same weights (tests/data/networks/make.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "embedding/architectures/architecture.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::filesystem::path network_folder(const std::string& name) {
  return testing::data_folder() / "networks" / name;
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
  return architecture->read(config, "config.json");
}

class NetworkTest : public ::testing::TestWithParam<std::string> {};

TEST_P(NetworkTest, AgreesWithTheReference) {
  const auto network = read_network(network_config(GetParam()));
  ASSERT_TRUE(network.ok()) << network.status().to_string();
  EXPECT_EQ((*network)->vocabulary_size(), 45U);
  EXPECT_EQ((*network)->tokens_max(), 24U);
  EXPECT_EQ((*network)->hidden_size(), 32U);
  const auto weights = Safetensors::open(network_folder(GetParam()) / "model.safetensors");
  ASSERT_TRUE(weights.ok()) << weights.status().to_string();
  for (const auto& [mode, name] : {std::pair{graph::PoolingMode::kMean, "mean"}, {graph::PoolingMode::kCls, "cls"}}) {
    const auto graph = (*network)->make_graph(*weights, {.pooling = mode});
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    const auto vectors = testing::vectors_of(*graph, testing::batch_of(vectors_by_network()["ids"]));
    const json& wanted = vectors_by_network()["vectors"][GetParam()][name];
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      for (std::size_t i = 0; i < wanted[row].size(); ++i) {
        EXPECT_NEAR(vectors.values[row * wanted[row].size() + i], wanted[row][i].get<double>(), 2e-6)
            << name << " " << row << "," << i;
      }
    }
  }
}

// Each key of config.json taken away, or with another value: the same network, or a refusal that names it. Sizes are
// not asked: another one is another network, which the weights do not fit.
TEST_P(NetworkTest, AKeyThatChangesTheNumbersIsReadOrRefused) {
  const json config = network_config(GetParam());
  const auto weights = Safetensors::open(network_folder(GetParam()) / "model.safetensors");
  ASSERT_TRUE(weights.ok());
  const auto batch = testing::batch_of(vectors_by_network()["ids"]);
  const auto vectors = [&](const json& changed) -> std::vector<double> {
    const auto network = read_network(changed);
    if (!network.ok()) return {};
    const auto graph = (*network)->make_graph(*weights, {});
    return graph.ok() ? testing::vectors_of(*graph, batch).values : std::vector<double>();
  };
  const auto same = vectors(config);
  ASSERT_FALSE(same.empty());
  for (const auto& [key, value] : config.items()) {
    if (key == "model_type" || key == "num_attention_heads" || key == "n_heads" || key == "layer_norm_eps" ||
        key == "num_hidden_layers" || key == "n_layers" || (key == "pad_token_id" && GetParam() == "roberta")) {
      continue;  // what they say is all that is known of it
    }
    SCOPED_TRACE(key);
    json without = config;
    without.erase(key);
    for (const json& other : {without, [&] {
                                json changed = config;
                                changed[key] = value.is_string()    ? json("silu")
                                               : value.is_boolean() ? json(!value.get<bool>())
                                               : value.is_number()  ? json(7)
                                                                    : json("x");
                                return changed;
                              }()}) {
      const auto found = vectors(other);
      EXPECT_TRUE(found.empty() || found == same);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NetworkTest, ::testing::Values("distilbert", "electra", "mpnet", "roberta"),
                         [](const auto& given) { return given.param; });

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

TEST(MpnetConfigTest, TakesTheBucketsThatTheReferenceHas) {
  json config = network_config("mpnet");
  config["relative_attention_num_buckets"] = 64;
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("'relative_attention_num_buckets' is 64; only 32"));
  config["relative_attention_num_buckets"] = nullptr;
  EXPECT_TRUE(read_network(config).ok());
  config["max_position_embeddings"] = 2;
  EXPECT_THAT(read_network(config).status().to_string(), HasSubstr("no position behind the padding's id 1"));
}

TEST(DistilBertConfigTest, TwoNamesForASizeMustAgree) {
  json config = network_config("distilbert");
  config["hidden_size"] = 32;
  EXPECT_TRUE(read_network(config).ok());
  config["hidden_size"] = 64;
  const auto refused = read_network(config).status();
  EXPECT_EQ(refused.code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(refused.to_string(), ::testing::AllOf(HasSubstr("'hidden_size'"), HasSubstr("'dim'")));
}

}  // namespace
}  // namespace latebind::embedding
