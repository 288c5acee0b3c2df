// Routers: their file, and the folders of the recorded ones (tests/data/routers/make.py), whole and damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "embedding/folder/model_folder.h"
#include "embedding/folder/router_file.h"
#include "embedding/outputs/sparse.h"
#include "tests/embedding/support.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

json router_file() {
  return {
      {"types",
       {{"q", "sentence_transformers.a.SparseStaticEmbedding"},
        {"", "sentence_transformers.b.Transformer"},
        {"d", "sentence_transformers.c.SpladePooling"}}},
      {"structure", {{"query", {"q"}}, {"document", {"", "d"}}}},
      {"parameters", {{"default_route", "document"}, {"allow_empty_key", true}, {"route_mappings", json::object()}}}};
}

TEST(RouterTest, EachWayHasItsModulesBelowTheRouter) {
  const auto router = read_router(json_of(router_file()), "", "r");
  ASSERT_TRUE(router.ok()) << router.status().to_string();
  ASSERT_EQ(router->query.size(), 1U);
  EXPECT_EQ(router->query[0].folder, "q");
  EXPECT_EQ(router->query[0].kind(), "SparseStaticEmbedding");
  ASSERT_EQ(router->document.size(), 2U);
  EXPECT_EQ(router->document[0].folder, "");
  EXPECT_EQ(router->otherwise, TextRole::kDocument);
  EXPECT_EQ(&router->modules_of(TextRole::kUnspecified), &router->document);
  const auto below = read_router(json_of(router_file()), "0_Router", "r");
  ASSERT_TRUE(below.ok());
  EXPECT_EQ(below->document[0].folder, "0_Router");
  EXPECT_EQ(below->document[1].folder, "0_Router/d");
}

TEST(RouterTest, WithoutADefaultNoWayIsGuessed) {
  json file = router_file();
  file["parameters"]["default_route"] = nullptr;
  EXPECT_EQ(read_router(json_of(file), "", "r")->otherwise, TextRole::kUnspecified);
  file["parameters"] = json::object();
  EXPECT_EQ(read_router(json_of(file), "", "r")->otherwise, TextRole::kUnspecified);
}

TEST(RouterTest, WhatIsNoRouterOfTheTwoIsRefusedByName) {
  const auto refusal = [](const json& patch) {
    json file = router_file();
    file.merge_patch(patch);
    const auto router = read_router(json_of(file), "", "router_config.json");
    EXPECT_FALSE(router.ok()) << patch;
    return router.ok() ? std::string() : router.status().to_string();
  };
  EXPECT_THAT(refusal({{"types", nullptr}}), HasSubstr("router_config.json: 'types' is missing, or is not an object"));
  EXPECT_THAT(refusal({{"structure", json::array()}}), HasSubstr("'structure' is missing, or is not an object"));
  EXPECT_THAT(refusal({{"parameters", nullptr}}), HasSubstr("'parameters' is missing, or is not an object"));
  EXPECT_THAT(refusal({{"structure", {{"query", nullptr}}}}), HasSubstr("there is no route 'query'"));
  EXPECT_THAT(refusal({{"structure", {{"image", {"q"}}}}}), HasSubstr("the route 'image' is not supported"));
  EXPECT_THAT(refusal({{"structure", {{"query", json::array()}}}}), HasSubstr("0 modules, between 1 and 32 are read"));
  EXPECT_THAT(refusal({{"structure", {{"query", json(std::vector<std::string>(33, "q"))}}}}), HasSubstr("33 modules"));
  EXPECT_THAT(refusal({{"structure", {{"query", "q"}}}}), HasSubstr("the route 'query' is not an array"));
  EXPECT_THAT(refusal({{"structure", {{"query", {nullptr}}}}}),
              HasSubstr("a module of the route 'query' is not a text"));
  EXPECT_THAT(refusal({{"structure", {{"query", {"x"}}}}}), HasSubstr("'types' does not say what 'x' is"));
  EXPECT_THAT(refusal({{"types", {{"q", 7}}}}), HasSubstr("'types' does not say what 'q' is"));
  EXPECT_THAT(refusal({{"types", {{"../x", "t"}}}, {"structure", {{"query", {"../x"}}}}}),
              HasSubstr("the path '../x' leads out of the model's folder"));
  EXPECT_THAT(refusal({{"parameters", {{"default_route", "image"}}}}), HasSubstr("'default_route' is 'image'"));
  EXPECT_THAT(refusal({{"parameters", {{"default_route", 1}}}}), HasSubstr("'default_route'"));
  EXPECT_THAT(refusal({{"parameters", {{"route_mappings", {{"('query', None)", "query"}}}}}}),
              HasSubstr("'route_mappings' are not supported"));
}

class RouterFolderTest : public ::testing::Test {
 protected:
  // A copy of a recorded one.
  void copy(std::string_view name) const {
    const std::filesystem::path from = testing::data_folder() / "routers" / name;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(from)) {
      if (!entry.is_regular_file()) continue;
      testing::write_file(scratch_.path() / entry.path().lexically_relative(from), testing::read_file(entry.path()));
    }
  }
  void change(const std::string& file, const json& patch) const {
    json whole = json::parse(testing::read_file(scratch_.path() / file));
    if (patch.is_array()) {
      whole = patch;
    } else {
      whole.merge_patch(patch);
    }
    testing::write_file(scratch_.path() / file, whole.dump());
  }
  [[nodiscard]] std::string refusal() const {
    const auto model = ModelFolder::open(scratch_.path());
    EXPECT_FALSE(model.ok());
    return model.ok() ? std::string() : model.status().to_string();
  }

  testing::ScratchFolder scratch_;
};

TEST_F(RouterFolderTest, ATableAnswersQueriesAndANetworkDocuments) {
  for (const char* name : {"sparse", "published"}) {
    copy(name);
    const auto model = ModelFolder::open(scratch_.path());
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    EXPECT_EQ(model->kind().name, "sparse");
    EXPECT_NE(model->documents().network.network, nullptr);
    EXPECT_EQ(model->documents().input.max_tokens, 20U);
    const Specification* const queries = model->queries();
    ASSERT_NE(queries, nullptr);
    const auto* const output = as<SparseOutput>(queries->output());
    ASSERT_NE(output, nullptr);
    EXPECT_EQ(output->rule().most, 9U);
    EXPECT_EQ(queries->network.network, nullptr);
    ASSERT_NE(queries->network.term_table, nullptr);
    EXPECT_EQ(queries->network.term_table->size(), 45U);
    EXPECT_EQ(queries->input.max_tokens, 12U);
    EXPECT_EQ(*model->route_for(TextRole::kUnspecified), &model->documents());
    EXPECT_EQ(*model->route_for(TextRole::kQuery), queries);
    EXPECT_THAT(model->documents().small_files, Contains(scratch_.path() / "router_config.json"));
    std::filesystem::remove_all(scratch_.path());
  }
}

TEST_F(RouterFolderTest, WhoDoesNotSayTheRoleIsAsked) {
  copy("networks");
  const auto model = ModelFolder::open(scratch_.path());
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_TRUE(model->route_for(TextRole::kDocument).ok());
  const auto unsaid = model->route_for(TextRole::kUnspecified);
  EXPECT_EQ(unsaid.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unsaid.status().to_string(), HasSubstr("give the role of the texts, query or document"));
}

TEST_F(RouterFolderTest, DamagedOnesAreRefusedByName) {
  copy("sparse");
  change("config_sentence_transformers.json", {{"model_type", "SentenceTransformer"}});
  EXPECT_THAT(refusal(), HasSubstr("'model_type' is not SparseEncoder"));
  change("config_sentence_transformers.json", {{"model_type", "CrossEncoder"}});
  EXPECT_THAT(refusal(), HasSubstr("config_sentence_transformers.json"));
  change("config_sentence_transformers.json", {{"model_type", "SparseEncoder"}});
  const std::string table = "query_0_SparseStaticEmbedding/";
  change(table + "config.json", {{"path", "idf.json"}});
  EXPECT_THAT(refusal(), HasSubstr("'path' is 'idf.json': weights are read from model.safetensors alone"));
  change(table + "config.json", {{"path", nullptr}});
  change(table + "tokenizer_config.json", {{"model_max_length", 0}});
  EXPECT_THAT(refusal(), HasSubstr("'model_max_length' is 0"));
  change(table + "tokenizer_config.json", {{"model_max_length", 12}});
  const std::string weights = testing::read_file(scratch_.path() / table / "model.safetensors");
  testing::write_file(scratch_.path() / table / "model.safetensors", weights.substr(0, weights.size() - 4));
  EXPECT_THAT(refusal(), HasSubstr("model.safetensors"));
  std::filesystem::remove(scratch_.path() / table / "model.safetensors");
  EXPECT_THAT(refusal(), HasSubstr("model.safetensors"));
  testing::write_file(scratch_.path() / table / "model.safetensors", weights);
  std::filesystem::remove(scratch_.path() / table / "tokenizer.json");
  EXPECT_THAT(refusal(), HasSubstr("tokenizer"));
  copy("sparse");
  // Smaller than the table: the documents' vocabulary is that of the network.
  change("document_0_Transformer/config.json", {{"vocab_size", 44}});
  EXPECT_THAT(refusal(), HasSubstr("'weight' has 45 numbers, but the documents' vocabulary has 44 entries"));
  change("document_0_Transformer/config.json", {{"vocab_size", 45}});
  std::filesystem::remove(scratch_.path() / "router_config.json");
  EXPECT_THAT(refusal(), HasSubstr("router_config.json"));
  testing::write_file(scratch_.path() / "router_config.json", "[]");
  EXPECT_THAT(refusal(), HasSubstr("router_config.json"));
}

TEST_F(RouterFolderTest, WaysOfDifferentKindsAreRefused) {
  copy("sparse");
  change("router_config.json",
         {{"structure", {{"document", {"query_0_SparseStaticEmbedding", "document_1_SpladePooling"}}}}});
  EXPECT_THAT(refusal(), HasSubstr("as number 2 is not supported"));
  change("router_config.json", {{"structure", {{"query", {"document_0_Transformer"}}}}});
  EXPECT_FALSE(refusal().empty());
  copy("sparse");
  change("router_config.json",
         {{"types", {{"x", "sentence_transformers.models.Router"}}}, {"structure", {{"query", {"x"}}}}});
  EXPECT_THAT(refusal(), HasSubstr("the module 'sentence_transformers.models.Router' as number 1 is not supported"));
}

}  // namespace
}  // namespace latebind::embedding
