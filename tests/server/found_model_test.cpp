#include "server/found_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/embedding/support.h"

namespace latebind::server {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

const std::string kCommit(40, 'a');

class FoundModelTest : public ::testing::Test {
 protected:
  FoundModel describe(const std::string& folder) const {
    return describe_model({.name = {}, .model = (scratch_.path() / folder).string()}, scratch_.path() / folder);
  }
  void write(const std::string& file, std::string_view text) const { scratch_.write(file, text); }

  embedding::testing::ScratchFolder scratch_;
};

TEST_F(FoundModelTest, AFolderOfTheHubsCacheIsCalledAsThere) {
  const std::string folder = "models--an-org--a-model/snapshots/" + kCommit;
  write(folder + "/config.json", "{}");
  const FoundModel found = describe(folder);
  EXPECT_EQ(found.names.name, "a-model");
  EXPECT_THAT(found.names.others, Contains("an-org/a-model"));
  EXPECT_EQ(found.commit, kCommit);
  const FoundModel named = describe_model({.name = "mine", .model = "an-org/a-model"}, scratch_.path() / folder);
  EXPECT_EQ(named.names.name, "mine");
  EXPECT_TRUE(named.names.others.empty());
  EXPECT_EQ(named.commit, kCommit);
}

TEST_F(FoundModelTest, AFoldersOwnNameIsUsedWhereItSaysSomething) {
  write("a-model/config.json", R"({"_name_or_path":"an-org/another"})");
  write("a-model/README.md", "# third-1\n");
  const FoundModel found = describe("a-model");
  EXPECT_EQ(found.names.name, "a-model");
  EXPECT_TRUE(found.named_by.empty());
  EXPECT_TRUE(found.commit.empty());
}

TEST_F(FoundModelTest, AFolderIsReachedByTheOwnerThatItsFilesSay) {
  write("a-model/config.json", R"({"_name_or_path":"an-org/a-model"})");
  FoundModel found = describe("a-model");
  EXPECT_EQ(found.names.name, "a-model");
  EXPECT_THAT(found.names.others, Contains("an-org/a-model"));
  EXPECT_TRUE(found.named_by.empty());
  // Most cards have it in their examples alone, and most configurations the model that it was trained from.
  write("a-model/config.json", R"({"_name_or_path":"base/base-uncased"})");
  write("a-model/README.md", "# a-model\n```python\nmodel = SentenceTransformer('an-org/a-model')\n```\n");
  found = describe("a-model");
  EXPECT_EQ(found.names.name, "a-model");
  EXPECT_THAT(found.names.others, Contains("an-org/a-model"));
  EXPECT_THAT(found.names.others, Not(Contains("base/base-uncased")));
}

TEST(OwnedNameInCardTest, IsTheOneOwnerOfThatName) {
  EXPECT_EQ(owned_name_in_card("load(\"an-org/a-1\"), `an-org/a-1`, 'a-1', 'other/b-1'", "a-1"), "an-org/a-1");
  for (const char* card : {"", "an-org/a-1", "'an-org/a-1", "'an-org/a-12'", "'./x/a-1'", "'x/a-1' and 'y/a-1'",
                           "'https://host/an-org/a-1'", "'xa-1'"})
    EXPECT_EQ(owned_name_in_card(card, "a-1"), "") << card;
}

TEST_F(FoundModelTest, AFolderWhoseNameSaysNothingIsCalledAsItsCardSaysOrItsConfig) {
  write("model/config.json", R"({"_name_or_path":"an-org/of-config"})");
  FoundModel found = describe("model");
  EXPECT_EQ(found.names.name, "of-config");
  EXPECT_EQ(found.named_by, "config.json");
  EXPECT_THAT(found.names.others,
              IsSupersetOf(std::vector<std::string>{"model", "an-org/of-config", found.names.given}));
  write("model/README.md", "---\nlicense: mit\n---\n\n# of-card\n");
  found = describe("model");
  EXPECT_EQ(found.names.name, "of-card");
  EXPECT_EQ(found.named_by, "README.md");
}

TEST_F(FoundModelTest, WhatIsNoNameIsNotUsed) {
  for (const char* config :
       {"{", "[]", R"({"_name_or_path":1})", R"({"_name_or_path":"/tmp/run/out"})", R"({"_name_or_path":""})",
        R"({"_name_or_path":"org/model"})", R"({"_name_or_path":"./x"})"}) {
    write("models/config.json", config);
    const FoundModel found = describe("models");
    EXPECT_EQ(found.names.name, "models") << config;
    EXPECT_TRUE(found.named_by.empty());
  }
  EXPECT_EQ(describe("1").names.name, "1");  // there is no such folder
}

TEST_F(FoundModelTest, ADownloadIntoAFolderHasItsCommit) {
  write("a-model/config.json", "{}");
  write("a-model/.cache/huggingface/download/config.json.metadata", kCommit + "\netag\n1700000000.0\n");
  EXPECT_EQ(describe("a-model").commit, kCommit);
  write("a-model/.cache/huggingface/download/config.json.metadata", "no commit\n");
  EXPECT_EQ(describe("a-model").commit, "");
}

TEST(NameInCardTest, IsThatOfTheResultsOrOfTheHeading) {
  EXPECT_EQ(name_in_card("---\nlanguage: en\n---\n\n# all-MiniLM-L6-v2\nThis is\n"), "all-MiniLM-L6-v2");
  EXPECT_EQ(name_in_card("\n# `an-org/a_model`\r\n"), "an-org/a_model");
  EXPECT_EQ(name_in_card(
                "---\ntags:\n- name: tag-1\nmodel-index:\n- name: 'bge-1.5'\n  results:\n  - name: x-1\n---\n# y-2\n"),
            "bge-1.5");
  EXPECT_EQ(name_in_card("---\nmodel-index:\n  - name: bge-1.5\n---\n"), "bge-1.5");
}

TEST(NameInCardTest, IsNotAWordNorASentenceNorAPlaceholder) {
  for (const char* card : {"", "text", "# Introduction\n# a-model\n", "# SentenceTransformer based on a-model\n",
                           "# {MODEL_NAME}\n", "```\n# pip install a-b\n```\n", "## a-model\n", "# ../a-b\n", "---\n",
                           "---\nmodel-index:\n- name: model\n---\n", "# v2@main\n"})
    EXPECT_EQ(name_in_card(card), "") << card;
  EXPECT_EQ(name_in_card("# " + std::string(100'000, 'a') + "-1\n"), "");
}

}  // namespace
}  // namespace latebind::server
