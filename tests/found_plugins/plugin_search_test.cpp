#include "backends/plugin/found/plugin_search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_file_system.h"

namespace latebind::plugin {
namespace {

using core::System;
using test::FakeFileSystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A manifest in a file, and the library beside it.
struct Installed {
  std::string file;
  std::string name = "toy";
  std::string platform = "linux-x86_64";
  int least = 1;
  int most = 1;
  bool has_library = true;
};

// A file system with these manifests and libraries.
struct Machine {
  explicit Machine(const std::vector<Installed>& all) : files(names_of(all)) {
    for (const Installed& one : all) {
      files.texts[one.file] = fmt::format(
          R"({{"format": 1, "name": "{}", "library": "lib.so", "contract": {{"least": {}, "most": {}}}, "platform": "{}"}})",
          one.name, one.least, one.most, one.platform);
    }
  }
  static std::set<std::string> names_of(const std::vector<Installed>& all) {
    std::set<std::string> names;
    for (const Installed& one : all) {
      names.insert(one.file);
      if (one.has_library) names.insert(core::parent_folder(one.file) + "/lib.so");
    }
    return names;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the file system
  operator const core::FileSystem&() const { return files; }

  FakeFileSystem files;
};

Machine machine(const std::vector<Installed>& all) {
  return Machine(all);
}

PluginFacts facts_of(System system = System::kLinux) {
  PluginFacts facts;
  facts.search.system = system;
  facts.search.home_folder = "/home/x";
  facts.search.module_folder = "/opt/latebind/bin";
  facts.platform = "linux-x86_64";
  facts.contract_least = 1;
  facts.contract_most = 2;
  facts.reserved = {"native", "auto"};
  return facts;
}

// The libraries of the entries that can be used, in order.
std::vector<std::string> usable(const PluginSearch& found) {
  std::vector<std::string> libraries;
  for (const PluginEntry& one : found.entries) {
    if (one.is_chosen && one.why_not.empty()) libraries.push_back(one.library);
  }
  return libraries;
}

std::string why_not(const PluginFacts& facts, const core::FileSystem& files) {
  const auto found = search_plugins(facts, files);
  EXPECT_EQ(found.entries.size(), 1U);
  return found.entries.empty() ? "nothing" : found.entries[0].why_not;
}

TEST(PluginSearchTest, PlacesAreSearchedInTheDocumentedOrder) {
  auto facts = facts_of();
  facts.search.explicit_path = "/named/one.json,/named/more";
  facts.search.module_folder = "/venv/lib/python3.11/site-packages/latebind";
  facts.search.variables = {{"VIRTUAL_ENV", "/other"}, {"CONDA_PREFIX", "/conda"}};
  const auto files = machine({{"/usr/lib/latebind/backends/a.json", "a"},
                              {"/usr/local/lib/latebind/backends/b.json", "b"},
                              {"/etc/latebind/backends/c.json", "c"},
                              {"/home/x/.local/share/latebind/backends/d.json", "d"},
                              {"/conda/lib/latebind/backends/e.json", "e"},
                              {"/other/lib/python3.12/site-packages/latebind_backend_f/latebind_backend.json", "f"},
                              {"/venv/lib/python3.11/site-packages/latebind_backend_g/latebind_backend.json", "g"},
                              {"/venv/lib/python3.11/site-packages/lib/latebind/backends/h.json", "h"},
                              {"/named/more/i.json", "i"},
                              {"/named/one.json", "j"}});
  std::vector<std::string> names;
  for (const PluginEntry& one : search_plugins(facts, files).entries)
    names.push_back(one.manifest.name);
  EXPECT_THAT(names, ElementsAre("j", "i", "h", "g", "f", "e", "d", "c", "b", "a"));
}

TEST(PluginSearchTest, NothingIsReadWhereThereIsNothing) {
  const auto found = search_plugins(facts_of(), FakeFileSystem());
  EXPECT_THAT(found.entries, IsEmpty());
  for (const core::SearchStep& step : found.trace)
    EXPECT_EQ(step.outcome, "no such folder") << step.place;
}

TEST(PluginSearchTest, TheWordNoneEndsTheSearch) {
  auto facts = facts_of();
  const auto files = machine({{"/usr/lib/latebind/backends/a.json", "a"}, {"/n/b.json", "b"}});
  EXPECT_EQ(usable(search_plugins(facts, files)).size(), 1U);
  facts.search.explicit_path = "none";
  EXPECT_THAT(search_plugins(facts, files).entries, IsEmpty());
  facts.search.explicit_path = "/n,none";
  EXPECT_THAT(usable(search_plugins(facts, files)), ElementsAre("/n/lib.so"));
}

TEST(PluginSearchTest, TheSettingReplacesTheVariableAndBothPrecedeTheRest) {
  auto facts = facts_of();
  const auto files = machine({{"/set/a.json"}, {"/variable/a.json"}, {"/usr/lib/latebind/backends/a.json"}});
  facts.search.variables = {{kPathVariable, "/variable"}};
  EXPECT_THAT(usable(search_plugins(facts, files)), ElementsAre("/variable/lib.so"));
  facts.search.explicit_path = "/set";
  EXPECT_THAT(usable(search_plugins(facts, files)), ElementsAre("/set/lib.so"));
}

TEST(PluginSearchTest, RelativePathsAreRefused) {
  auto facts = facts_of();
  facts.search.explicit_path = "here";
  const auto found = search_plugins(facts, machine({{"here/a.json"}}));
  EXPECT_THAT(found.entries, IsEmpty());
  ASSERT_FALSE(found.trace.empty());
  EXPECT_THAT(found.trace[0].outcome, HasSubstr("the current folder is never searched"));
}

TEST(PluginSearchTest, OfOneNameTheFirstThatCanBeUsedCountsAndTheOthersSayWhich) {
  const auto files = machine({{"/home/x/.local/share/latebind/backends/toy.json", "toy", "linux-aarch64"},
                              {"/etc/latebind/backends/toy.json"},
                              {"/usr/lib/latebind/backends/toy.json"}});
  const auto found = search_plugins(facts_of(), files);
  ASSERT_EQ(found.entries.size(), 3U);
  EXPECT_EQ(found.entries[0].why_not, "it is for linux-aarch64, and this is linux-x86_64");
  EXPECT_FALSE(found.entries[0].is_chosen);
  EXPECT_TRUE(found.entries[1].is_chosen);
  EXPECT_EQ(found.entries[2].why_not,
            "hidden by /etc/latebind/backends/toy.json, which comes first in the order of the search");
  EXPECT_TRUE(found.entries[2].is_hidden);
  const auto step = std::ranges::find(found.trace, found.entries[2].file, &core::SearchStep::place);
  ASSERT_NE(step, found.trace.end());
  EXPECT_EQ(step->outcome, found.entries[2].why_not);
}

TEST(PluginSearchTest, ANameWithoutAUsableManifestIsChosenWithItsReason) {
  const auto found = search_plugins(facts_of(), machine({{"/etc/latebind/backends/a.json", "toy", "linux-x86_64", 3, 9},
                                                         {"/etc/latebind/backends/b.json", "toy", "windows-x86_64"}}));
  ASSERT_EQ(found.entries.size(), 2U);
  EXPECT_TRUE(found.entries[0].is_chosen);
  EXPECT_FALSE(found.entries[1].is_chosen);
}

TEST(PluginSearchTest, OfOneFolderTheNewestFileOfANameComesFirst) {
  const auto files = machine({{"/etc/latebind/backends/toy-9.json"}, {"/etc/latebind/backends/toy-10.json"}});
  const auto found = search_plugins(facts_of(), files);
  ASSERT_EQ(found.entries.size(), 2U);
  EXPECT_EQ(found.entries[0].file, "/etc/latebind/backends/toy-10.json");
}

TEST(PluginSearchTest, WhatSpeaksAgainstAPluginIsNamed) {
  const std::string file = "/etc/latebind/backends/toy.json";
  EXPECT_THAT(why_not(facts_of(), machine({{file, "native"}})), HasSubstr("'native' is a name of Latebind itself"));
  EXPECT_THAT(why_not(facts_of(), machine({{file, "toy", "linux-x86_64", 3, 4}})),
              HasSubstr("versions 3 to 4 of the contract, and this Latebind versions 1 to 2"));
  EXPECT_EQ(why_not(facts_of(), machine({{file, "toy", "linux-x86_64", 2, 4}})), "");
  EXPECT_THAT(why_not(facts_of(), machine({{file, "toy", "linux-x86_64", 1, 1, false}})),
              HasSubstr("its library /etc/latebind/backends/lib.so does not exist"));
  auto damaged = machine({{file}});
  damaged.files.texts[file] = "{";
  EXPECT_THAT(why_not(facts_of(), damaged), HasSubstr("toy.json"));
}

TEST(PluginSearchTest, AReservedNameStandsForNothing) {
  const auto found = search_plugins(facts_of(), machine({{"/etc/latebind/backends/a.json", "auto"}}));
  ASSERT_EQ(found.entries.size(), 1U);
  EXPECT_FALSE(found.entries[0].is_chosen);
}

TEST(PluginSearchTest, WhatOthersMayHavePutThereIsNotReadUnlessItIsNamed) {
  const std::string file = "/home/x/.local/share/latebind/backends/toy.json";
  auto facts = facts_of();
  auto files = machine({{file}});
  files.files.others = {"/home/x"};
  const auto found = search_plugins(facts, files);
  ASSERT_EQ(found.entries.size(), 1U);
  EXPECT_THAT(found.entries[0].why_not, HasSubstr("skipped, because it was found and not named, and /home/x is"));
  EXPECT_EQ(found.entries[0].manifest.name, "");
  facts.search.explicit_path = file;
  EXPECT_EQ(usable(search_plugins(facts, files)).size(), 1U);
}

TEST(PluginSearchTest, TheActiveEnvironmentIsNamedByItsVariable) {
  auto facts = facts_of();
  facts.search.module_folder = "/venv/lib/python3.11/site-packages/latebind";
  auto files = machine({{"/venv/lib/python3.11/site-packages/latebind_backend_f/latebind_backend.json"}});
  files.files.others = {"/venv"};
  EXPECT_THAT(usable(search_plugins(facts, files)), IsEmpty());
  facts.search.variables = {{"VIRTUAL_ENV", "/venv"}};
  EXPECT_EQ(usable(search_plugins(facts, files)).size(), 1U);
}

TEST(PluginSearchTest, APrivilegedProcessLooksIntoNoHomeFolder) {
  auto facts = facts_of();
  const auto files = machine({{"/home/x/.local/share/latebind/backends/toy.json"}});
  EXPECT_EQ(usable(search_plugins(facts, files)).size(), 1U);
  facts.search.privileged = true;
  EXPECT_THAT(usable(search_plugins(facts, files)), IsEmpty());
  EXPECT_EQ(user_plugin_folder(facts), "");
}

TEST(PluginSearchTest, TheUsersFolderIsThatOfTheSystem) {
  auto facts = facts_of();
  EXPECT_EQ(user_plugin_folder(facts), "/home/x/.local/share/latebind/backends");
  facts.search.variables = {{"XDG_DATA_HOME", "/data"}};
  EXPECT_EQ(user_plugin_folder(facts), "/data/latebind/backends");
  facts.search.variables = {{"XDG_DATA_HOME", "data"}};
  EXPECT_EQ(user_plugin_folder(facts), "/home/x/.local/share/latebind/backends");
  auto windows = facts_of(System::kWindows);
  windows.search.home_folder = "C:/Users/x";
  EXPECT_EQ(user_plugin_folder(windows), "C:/Users/x/AppData/Local/latebind/backends");
  windows.search.variables = {{"LOCALAPPDATA", "D:/data"}};
  EXPECT_EQ(user_plugin_folder(windows), "D:/data/latebind/backends");
}

TEST(PluginSearchTest, OnWindowsPathsAreDividedBySemicolons) {
  auto facts = facts_of(System::kWindows);
  facts.search.explicit_path = "C:/a;D:/b";
  facts.platform = "windows-x86_64";
  const auto files = machine({{"C:/a/x.json", "x", "windows-x86_64"}, {"D:/b/y.json", "y", "windows-x86_64"}});
  EXPECT_THAT(usable(search_plugins(facts, files)), ElementsAre("C:/a/lib.so", "D:/b/lib.so"));
}

TEST(PluginSearchTest, AFolderOfManyManifestsIsReadInPart) {
  std::vector<Installed> many;
  for (int i = 0; i < 100; ++i)
    many.push_back({fmt::format("/etc/latebind/backends/{:03}.json", i), fmt::format("p{}", i)});
  EXPECT_EQ(search_plugins(facts_of(), machine(many)).entries.size(), 64U);
}

}  // namespace
}  // namespace latebind::plugin
