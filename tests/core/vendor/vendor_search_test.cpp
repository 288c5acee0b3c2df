#include "core/vendor/vendor_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_file_system.h"

namespace latebind::core {
namespace {

using test::FakeFileSystem;
using test::files_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

VendorLibrary searched_for() {
  VendorLibrary result;
  result.product = "Acme";
  result.install_command = "pip install acme";
  result.stem = "acme";
  result.package_folder = "acme/libs";
  result.library_variables = {"OWN_ACME", "ACME_LIB"};
  result.installation_variables = {"ACME_DIR"};
  result.layouts = {"runtime/lib/intel64"};
  result.system_places = {{"/opt/acme", "acme*/lib"}};
  return result;
}

SearchFacts facts_with(std::map<std::string, std::string> variables) {
  SearchFacts facts;
  facts.variables = std::move(variables);
  return facts;
}

std::vector<std::string> found(const SearchFacts& facts, const FakeFileSystem& files) {
  return files_of(search_list(searched_for(), facts, files));
}

TEST(VendorSearchTest, TheConfiguredPathWinsOverVariablesAndTheSearch) {
  auto facts = facts_with({{"OWN_ACME", "/b/libacme.so"}, {"ACME_LIB", "/c/libacme.so"}});
  facts.explicit_path = "/a/libacme.so";
  const FakeFileSystem files({"/a/libacme.so", "/b/libacme.so", "/c/libacme.so", "/usr/lib/libacme.so"});
  EXPECT_THAT(found(facts, files), ElementsAre("/a/libacme.so"));
  facts.explicit_path.clear();
  EXPECT_THAT(found(facts, files), ElementsAre("/b/libacme.so"));
  facts.variables.erase("OWN_ACME");
  EXPECT_THAT(found(facts, files), ElementsAre("/c/libacme.so"));
  facts.variables.erase("ACME_LIB");
  EXPECT_THAT(found(facts, files), ElementsAre("/usr/lib/libacme.so"));
}

TEST(VendorSearchTest, AChosenPathThatIsWrongIsTheWholeAnswer) {
  const auto list =
      search_list(searched_for(), facts_with({{"OWN_ACME", "/nowhere"}}), FakeFileSystem({"/usr/lib/libacme.so"}));
  EXPECT_EQ(list.chosen_by, "OWN_ACME");
  ASSERT_EQ(list.candidates.size(), 1U);
  EXPECT_EQ(list.candidates[0].why_not, "does not exist");
}

TEST(VendorSearchTest, AChosenFolderMayBeAnInstallationOrAPythonEnvironment) {
  for (const std::string inside : {"", "lib/", "acme/libs/", "lib/python3.11/site-packages/acme/libs/",
                                   "venv/lib/python3.11/site-packages/acme/libs/", "runtime/lib/intel64/"}) {
    const std::string file = "/chosen/" + inside + "libacme.so.7";
    EXPECT_THAT(found(facts_with({{"OWN_ACME", "/chosen/"}}), FakeFileSystem({file})), ElementsAre(file));
  }
  const auto list =
      search_list(searched_for(), facts_with({{"OWN_ACME", "/chosen"}}), FakeFileSystem({"/chosen/readme"}));
  ASSERT_EQ(list.candidates.size(), 1U);
  EXPECT_THAT(list.candidates[0].why_not, HasSubstr("no libacme.so in it"));
}

TEST(VendorSearchTest, RelativePathsAreRefusedAndTheCurrentFolderIsNotSearched) {
  const auto list =
      search_list(searched_for(), facts_with({{"OWN_ACME", "libacme.so"}}), FakeFileSystem({"libacme.so"}));
  EXPECT_THAT(files_of(list), IsEmpty());
  EXPECT_THAT(list.candidates[0].why_not, HasSubstr("give the full path"));
  // Empty entries of the loader's variable mean the current folder, too.
  const FakeFileSystem files({"/libacme.so", "./libacme.so", "libs/libacme.so", "/good/libacme.so"});
  EXPECT_THAT(found(facts_with({{"LD_LIBRARY_PATH", ":.:libs:/good:"}, {"VIRTUAL_ENV", "env"}}), files),
              ElementsAre("/good/libacme.so"));
}

TEST(VendorSearchTest, WhatIsShippedWithTheProgramComesBeforeTheMachines) {
  auto facts = facts_with({{"VIRTUAL_ENV", "/venv"}});
  facts.module_folder = "/app/release/bin";
  const std::string packages = "lib/python3.11/site-packages/acme/libs/libacme.so.1";
  const FakeFileSystem files({"/app/release/runtime/venv/" + packages, "/app/runtime/libacme.so", "/venv/" + packages,
                              "/usr/local/lib/libacme.so"});
  EXPECT_THAT(found(facts, files),
              ElementsAre("/app/release/runtime/venv/" + packages, "/venv/" + packages, "/usr/local/lib/libacme.so"));
}

TEST(VendorSearchTest, LooksBesideABuildTreeOfOursAndAboveNoOtherFolder) {
  SearchFacts facts;
  facts.module_folder = "/tree/build/dev/bin";
  FakeFileSystem files({"/tree/build/runtime/libacme.so"});
  // Else whoever unpacks /tmp/x/bin/latebind would run what anybody put into /tmp/runtime.
  EXPECT_THAT(found(facts, files), IsEmpty());
  const std::string name = "# a comment\nCMAKE_PROJECT_NAME:STATIC=latebind\r\n";
  files.texts["/tree/build/dev/CMakeCache.txt"] = name + "CMAKE_CACHEFILE_DIR:INTERNAL=/tree/build/dev\n";
  EXPECT_THAT(found(facts, files), ElementsAre("/tree/build/runtime/libacme.so"));
  for (const std::string& other :
       {name, name + "CMAKE_CACHEFILE_DIR:INTERNAL=\n", name + "CMAKE_CACHEFILE_DIR:INTERNAL=/elsewhere/dev\n",
        std::string("CMAKE_PROJECT_NAME:STATIC=other\nCMAKE_CACHEFILE_DIR:INTERNAL=/tree/build/dev\n")}) {
    files.texts["/tree/build/dev/CMakeCache.txt"] = other;
    EXPECT_THAT(found(facts, files), IsEmpty()) << other;
  }
}

TEST(VendorSearchTest, WhatOthersMayHavePutThereIsLeftOutUnlessItIsNamed) {
  const std::string packages = "/lib/python3.11/site-packages/acme/libs/libacme.so";
  FakeFileSystem files({"/app/runtime/libacme.so", "/home/u/.local/share/latebind/runtime/acme/libs/libacme.so",
                        "/home/u/.local" + packages, "/opt/acme/acme7/lib/libacme.so", "/usr/lib/libacme.so",
                        "/venv" + packages, "/loader/libacme.so", "/acme/libacme.so"});
  files.others = {"/app", "/home/u", "/opt/acme/acme7", "/usr/lib", "/venv", "/loader", "/acme"};
  auto facts = facts_with({{"VIRTUAL_ENV", "/venv"}, {"LD_LIBRARY_PATH", "/loader"}, {"ACME_DIR", "/acme"}});
  facts.module_folder = "/app/bin";
  facts.home_folder = "/home/u";
  const auto list = search_list(searched_for(), facts, files);
  // What a variable names was named by the user.
  EXPECT_THAT(files_of(list), ElementsAre("/venv" + packages, "/acme/libacme.so", "/loader/libacme.so"));
  std::vector<std::string> left_out;
  for (const auto& candidate : list.candidates) {
    if (!candidate.left_out) continue;
    left_out.push_back(candidate.place);
    EXPECT_THAT(candidate.why_not, HasSubstr("is another user's"));
  }
  EXPECT_THAT(left_out,
              ElementsAre("/app/runtime/libacme.so", "/home/u/.local/share/latebind/runtime/acme/libs/libacme.so",
                          "/home/u/.local" + packages, "/opt/acme/acme7/lib/libacme.so", "/usr/lib/libacme.so"));
  // The same file, found first and named further down; and named as the whole list.
  facts.variables["ACME_DIR"] = "/app/runtime";
  EXPECT_THAT(found(facts, files), testing::Contains("/app/runtime/libacme.so"));
  facts.explicit_path = "/usr/lib/libacme.so";
  EXPECT_THAT(found(facts, files), ElementsAre("/usr/lib/libacme.so"));
}

TEST(VendorSearchTest, FindsItsNeighbourAmongPythonPackages) {
  SearchFacts facts;
  facts.module_folder = "/venv/lib/python3.11/site-packages/latebind";
  const std::string file = "/venv/lib/python3.11/site-packages/acme/libs/libacme.so.3";
  EXPECT_THAT(found(facts, FakeFileSystem({file})), ElementsAre(file));
}

TEST(VendorSearchTest, SearchesTheUsersPackagesUnlessPrivileged) {
  SearchFacts facts;
  facts.home_folder = "/home/u";
  const FakeFileSystem files({"/home/u/.local/lib/python3.11/site-packages/acme/libs/libacme.so",
                              "/home/u/.local/lib/python3.9/site-packages/acme/libs/libacme.so"});
  EXPECT_THAT(found(facts, files), ElementsAre("/home/u/.local/lib/python3.11/site-packages/acme/libs/libacme.so",
                                               "/home/u/.local/lib/python3.9/site-packages/acme/libs/libacme.so"));
  facts.privileged = true;
  const auto list = search_list(searched_for(), facts, files);
  EXPECT_THAT(files_of(list), IsEmpty());
  EXPECT_EQ(list.candidates[0].why_not, "not set, or not trusted here");
}

TEST(VendorSearchTest, FindsWhatThePipCommandInstalls) {
  SearchFacts facts;
  facts.home_folder = "/home/u";
  EXPECT_EQ(pip_command("acme", System::kLinux), "pip install -U --target ~/.local/share/latebind/runtime acme");
  const FakeFileSystem linux_files({"/home/u/.local/share/latebind/runtime/acme/libs/libacme.so.3"});
  EXPECT_THAT(found(facts, linux_files), ElementsAre("/home/u/.local/share/latebind/runtime/acme/libs/libacme.so.3"));
  facts.privileged = true;
  EXPECT_THAT(found(facts, linux_files), IsEmpty());

  SearchFacts windows;
  windows.system = System::kWindows;
  windows.home_folder = "C:/Users/u";
  EXPECT_EQ(pip_command("acme", System::kWindows), R"(pip install -U --target "%LOCALAPPDATA%\latebind\runtime" acme)");
  EXPECT_THAT(found(windows, FakeFileSystem({"C:/Users/u/AppData/Local/latebind/runtime/acme/libs/acme.dll"})),
              ElementsAre("C:/Users/u/AppData/Local/latebind/runtime/acme/libs/acme.dll"));
}

TEST(VendorSearchTest, FollowsTheArchitecture) {
  const FakeFileSystem files({"/usr/lib/x86_64-linux-gnu/libacme.so", "/usr/lib/aarch64-linux-gnu/libacme.so"});
  SearchFacts facts;
  EXPECT_THAT(found(facts, files), ElementsAre("/usr/lib/x86_64-linux-gnu/libacme.so"));
  facts.architecture = "aarch64";
  EXPECT_THAT(found(facts, files), ElementsAre("/usr/lib/aarch64-linux-gnu/libacme.so"));
}

TEST(VendorSearchTest, TakesThePlainNameFirstAndThenTheNewestVersion) {
  const FakeFileSystem files({"/usr/lib/libacme.so", "/usr/lib/libacme.so.1.9", "/usr/lib/libacme.so.1.31",
                              "/usr/lib/libacme.so.bak", "/usr/lib/libacme.so.", "/usr/lib/libacme_extra.so",
                              "/usr/lib/libacme.soup"});
  EXPECT_THAT(found({}, files),
              ElementsAre("/usr/lib/libacme.so", "/usr/lib/libacme.so.1.31", "/usr/lib/libacme.so.1.9"));
}

TEST(VendorSearchTest, OpensNoFileTwice) {
  auto facts = facts_with({{"VIRTUAL_ENV", "/venv"}, {"CONDA_PREFIX", "/venv"}, {"LD_LIBRARY_PATH", "/venv/lib"}});
  EXPECT_THAT(found(facts, FakeFileSystem({"/venv/lib/libacme.so"})), ElementsAre("/venv/lib/libacme.so"));
}

TEST(VendorSearchTest, SaysWhereItLookedInVain) {
  auto facts = facts_with({{"VIRTUAL_ENV", "/venv"}});
  facts.module_folder = "/app/bin";
  std::vector<std::string> places;
  for (const auto& candidate : search_list(searched_for(), facts, FakeFileSystem()).candidates) {
    EXPECT_NE(candidate.why_not, "");
    EXPECT_NE(candidate.source, "");
    places.push_back(candidate.place);
  }
  for (const char* place : {"OWN_ACME", "ACME_LIB", "/app/runtime", "/venv", "CONDA_PREFIX", "ACME_DIR",
                            "/opt/acme/acme*/lib", "/usr/local/lib", "/usr/lib64"}) {
    EXPECT_THAT(places, testing::Contains(place));
  }
}

TEST(VendorSearchTest, WindowsHasPlacesNamesAndSeparatorsOfItsOwn) {
  auto facts = facts_with({{"VIRTUAL_ENV", "C:/venv"}, {"PATH", "C:/tools;D:/acme;relative"}});
  facts.system = System::kWindows;
  facts.home_folder = "C:/Users/u";
  const FakeFileSystem files({"C:/venv/Lib/site-packages/acme/libs/Acme.DLL", "D:/acme/acme.dll",
                              "C:/Users/u/AppData/Roaming/Python/Python311/site-packages/acme/libs/acme.dll",
                              "C:/Users/u/AppData/Local/Programs/Python/Python39/Lib/site-packages/acme/libs/acme.dll",
                              "relative/acme.dll"});
  EXPECT_THAT(found(facts, files),
              ElementsAre("C:/venv/Lib/site-packages/acme/libs/Acme.DLL", "D:/acme/acme.dll",
                          "C:/Users/u/AppData/Roaming/Python/Python311/site-packages/acme/libs/acme.dll",
                          "C:/Users/u/AppData/Local/Programs/Python/Python39/Lib/site-packages/acme/libs/acme.dll"));
  facts.explicit_path = "//server/share/acme.dll";
  EXPECT_THAT(found(facts, FakeFileSystem({"//server/share/acme.dll"})), ElementsAre("//server/share/acme.dll"));
}

TEST(VendorSearchTest, ComparesNumbersInNamesAsNumbers) {
  EXPECT_TRUE(newer_name("1.31.1", "1.9.0"));
  EXPECT_FALSE(newer_name("1.9.0", "1.31.1"));
  EXPECT_TRUE(newer_name("2641", "2541"));
  EXPECT_TRUE(newer_name("1.31.1", "1.31"));
  EXPECT_TRUE(newer_name("python3.11", "python3.9"));
  EXPECT_FALSE(newer_name("007", "7"));
  EXPECT_FALSE(newer_name("7", "007"));
  EXPECT_TRUE(newer_name("100000000000000000000000000001", "100000000000000000000000000000"));
  EXPECT_FALSE(newer_name("same", "same"));
}

TEST(VendorSearchTest, NamesTheLibraryAsTheSystemDoes) {
  EXPECT_EQ(library_name("acme", System::kLinux), "libacme.so");
  EXPECT_EQ(library_name("acme", System::kWindows), "acme.dll");
}

TEST(VendorSearchTest, ListsAreDividedByCommasAndByTheSystemsSeparator) {
  EXPECT_THAT(split_paths("/a:/b, /c ,,", System::kLinux), ElementsAre("/a", "/b", "/c"));
  EXPECT_THAT(split_paths("C:/a;D:/b,E:/c", System::kWindows), ElementsAre("C:/a", "D:/b", "E:/c"));
  EXPECT_THAT(split_paths("", System::kLinux), IsEmpty());
}

}  // namespace
}  // namespace latebind::core
