#include "server/model_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/embedding/support.h"

namespace latebind::server {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

ModelNames names_of(const std::string& text) {
  const auto argument = ModelArgument::parse(text);
  EXPECT_TRUE(argument.ok()) << text;
  return server::names_of(*argument);
}

TEST(ModelNamesTest, AModelOfTheHubHasItsNameWithAndWithoutItsOwner) {
  const ModelNames names = names_of("an-org/a-model.v2");
  EXPECT_EQ(names.name, "a-model.v2");
  EXPECT_THAT(names.others, Contains("an-org/a-model.v2"));
  const ModelNames revised = names_of("an-org/a-model@refs/pr/1");
  EXPECT_EQ(revised.name, "a-model");
  EXPECT_THAT(revised.others, IsSupersetOf({"an-org/a-model", "an-org/a-model@refs/pr/1"}));
}

TEST(ModelNamesTest, AFolderHasItsNameAndThatByWhichItWasGiven) {
  embedding::testing::ScratchFolder scratch;
  scratch.write("a=b@c/config.json", "{}");
  const std::string folder = (scratch.path() / "a=b@c").string();
  for (const std::string& given : {folder, folder + "/", folder + "/."}) {
    const ModelNames names = names_of(given);
    EXPECT_EQ(names.name, "a=b@c") << given;
    EXPECT_THAT(names.others, Contains(given));
  }
}

TEST(ModelNamesTest, AGivenNameTakesThePlaceOfAllOthers) {
  const ModelNames names = names_of("mini=an-org/a-model");
  EXPECT_EQ(names.name, "mini");
  EXPECT_TRUE(names.others.empty());
  EXPECT_EQ(names.given, "mini=an-org/a-model");
  for (const char* bad : {"", "=", "a=", "=b"})
    EXPECT_FALSE(ModelArgument::parse(bad).ok()) << bad;
}

TEST(ModelNamesTest, ATableFindsByEveryNameAndTheTagLatest) {
  NameTable table;
  ASSERT_TRUE(table.add(names_of("an-org/first")).ok());
  ASSERT_TRUE(table.add(names_of("second:latest=x")).ok());
  for (const char* name : {"first", "an-org/first", "first:latest", "an-org/first:latest"})
    EXPECT_EQ(table.find(name), 0U) << name;
  for (const char* name : {"second", "second:latest"})
    EXPECT_EQ(table.find(name), 1U) << name;
  for (const char* name : {"", ":latest", "x", "First", "first:v2", "an-org", "org/first", "first:latest:latest"})
    EXPECT_FALSE(table.find(name)) << name;
}

TEST(ModelNamesTest, ANameOfTwoModelsIsRefusedWithBoth) {
  for (const auto& [one, other, name] : std::vector<std::array<const char*, 3>>{
           {"a/x", "b/x", "'x'"}, {"a/x", "x=b/y", "'x'"}, {"x:latest=a/y", "b/x", "'x'"}, {"a/x", "a/x", "'x'"}}) {
    NameTable table;
    ASSERT_TRUE(table.add(names_of(one)).ok());
    const auto refused = table.add(names_of(other));
    EXPECT_EQ(refused.code(), core::StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), AllOf(HasSubstr(name), HasSubstr("'" + std::string(one) + "'"),
                                         HasSubstr("'" + std::string(other) + "'"), HasSubstr("--model NAME=MODEL")));
  }
}

TEST(ModelNamesTest, ANameIsALineOfBoundedLength) {
  NameTable table;
  EXPECT_FALSE(table.add({.given = "x", .name = ""}).ok());
  EXPECT_FALSE(table.add({.given = "x", .name = std::string(201, 'a')}).ok());
  EXPECT_FALSE(table.add({.given = "x", .name = "a\nb"}).ok());
  EXPECT_FALSE(table.add({.given = "x", .name = "\xFF"}).ok());
  // A long path is no name, and does no harm.
  EXPECT_TRUE(table.add({.given = "x", .name = "a", .others = {std::string(5000, 'b'), "c\nd"}}).ok());
  EXPECT_FALSE(table.find(std::string(5000, 'b')));
  EXPECT_FALSE(table.find("c\nd"));
}

TEST(ModelNamesTest, AliasesAreNamesOfTheModelThatTheyName) {
  std::vector<ModelNames> models{names_of("an-org/first"), names_of("two=an-org/second")};
  ASSERT_TRUE(
      add_aliases(std::vector<std::string>{"small=first", "large=two:latest", "x/y=an-org/first", "default"}, models)
          .ok());
  NameTable table;
  for (const ModelNames& names : models)
    ASSERT_TRUE(table.add(names).ok());
  for (const char* name : {"small", "x/y", "default", "first", "small:latest"})
    EXPECT_EQ(table.find(name), 0U) << name;
  EXPECT_EQ(table.find("large"), 1U);
  EXPECT_EQ(models[0].name, "first");
  // Once more the same is no mistake.
  EXPECT_TRUE(add_aliases(std::vector<std::string>{"small=first"}, models).ok());
}

TEST(ModelNamesTest, AnAliasOfNothingAndOneThatIsTakenAreRefused) {
  const auto refused = [](const std::string& alias) {
    std::vector<ModelNames> models{names_of("an-org/first"), names_of("two=an-org/second")};
    const auto status = add_aliases({&alias, 1}, models);
    EXPECT_EQ(status.code(), core::StatusCode::kInvalidArgument) << alias;
    return std::string(status.message());
  };
  EXPECT_THAT(refused("small=third"), AllOf(HasSubstr("no model is called 'third'"), HasSubstr("first, two")));
  EXPECT_THAT(refused("first=two"), AllOf(HasSubstr("two models are called 'first'"), HasSubstr("'an-org/first'"),
                                          HasSubstr("'two=an-org/second'")));
  for (const char* bad : {"=first", "=", "a="})
    EXPECT_THAT(refused(bad), HasSubstr("--alias must be NAME=MODEL")) << bad;
}

}  // namespace
}  // namespace latebind::server
