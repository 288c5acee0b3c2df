#include "backends/openvino/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/fake_file_system.h"

namespace latebind::openvino {
namespace {

using core::SearchFacts;
using core::System;
using latebind::test::FakeFileSystem;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

std::vector<std::string> found(const SearchFacts& facts, const core::FileSystem& files) {
  return latebind::test::files_of(core::search_list(vendor_library(facts.system, facts.architecture), facts, files));
}

SearchFacts with_variable(const std::string& name, const std::string& value) {
  SearchFacts facts;
  facts.variables[name] = value;
  return facts;
}

TEST(OpenvinoFindTest, FindsTheVersionedNameOfThePythonPackage) {
  SearchFacts facts;
  facts.module_folder = "/app/bin";
  const std::string file = "/app/runtime/venv/lib/python3.11/site-packages/openvino/libs/libopenvino_c.so.2641";
  EXPECT_THAT(found(facts, FakeFileSystem({file})), ElementsAre(file));
}

TEST(OpenvinoFindTest, TakesTheNewestVersionByNumber) {
  const auto facts = with_variable(kLibraryVariable, "/l");
  EXPECT_THAT(found(facts, FakeFileSystem(
                               {"/l/libopenvino_c.so.2541", "/l/libopenvino_c.so.10000", "/l/libopenvino_c.so.2641"})),
              ElementsAre("/l/libopenvino_c.so.10000", "/l/libopenvino_c.so.2641", "/l/libopenvino_c.so.2541"));
}

TEST(OpenvinoFindTest, LeavesAsideWhatOnlyLooksLikeTheLibrary) {
  const auto facts = with_variable(kLibraryVariable, "/l");
  EXPECT_THAT(found(facts, FakeFileSystem({"/l/libopenvino_c.so.txt", "/l/libopenvino_c.so.2641.sig",
                                           "/l/libopenvino.so.2641", "/l/xlibopenvino_c.so", "/l/libopenvino_c.so."})),
              IsEmpty());
}

TEST(OpenvinoFindTest, OurVariableWinsOverTheOneOfExecutorch) {
  auto facts = with_variable(kExecutorchVariable, "/executorch/libopenvino_c.so");
  const FakeFileSystem files({"/executorch/libopenvino_c.so", "/ours/libopenvino_c.so"});
  EXPECT_THAT(found(facts, files), ElementsAre("/executorch/libopenvino_c.so"));
  facts.variables[kLibraryVariable] = "/ours";
  EXPECT_THAT(found(facts, files), ElementsAre("/ours/libopenvino_c.so"));
}

TEST(OpenvinoFindTest, AVariableThatLeadsNowhereIsNotPaperedOver) {
  auto facts = with_variable(kExecutorchVariable, "/gone");
  facts.variables["VIRTUAL_ENV"] = "/venv";
  const auto list =
      core::search_list(vendor_library(System::kLinux, "x86_64"), facts,
                        FakeFileSystem({"/venv/lib/python3.11/site-packages/openvino/libs/libopenvino_c.so.2641"}));
  EXPECT_EQ(list.chosen_by, kExecutorchVariable);
  ASSERT_EQ(list.candidates.size(), 1U);
  EXPECT_EQ(list.candidates[0].place, "/gone");
  EXPECT_NE(list.candidates[0].why_not, "");
}

TEST(OpenvinoFindTest, KnowsIntelsFoldersOnBothArchitectures) {
  const FakeFileSystem files({"/opt/intel/openvino_2024.6/runtime/lib/intel64/libopenvino_c.so.2460",
                              "/opt/intel/openvino_2026.4/runtime/lib/intel64/libopenvino_c.so.2641",
                              "/opt/intel/openvino_2026.4/runtime/lib/aarch64/libopenvino_c.so.2641"});
  SearchFacts facts;
  EXPECT_THAT(found(facts, files), ElementsAre("/opt/intel/openvino_2026.4/runtime/lib/intel64/libopenvino_c.so.2641",
                                               "/opt/intel/openvino_2024.6/runtime/lib/intel64/libopenvino_c.so.2460"));
  facts.architecture = "aarch64";
  EXPECT_THAT(found(facts, files), ElementsAre("/opt/intel/openvino_2026.4/runtime/lib/aarch64/libopenvino_c.so.2641"));
}

TEST(OpenvinoFindTest, KnowsWhereSetupvarsPointsTo) {
  EXPECT_THAT(
      found(with_variable("INTEL_OPENVINO_DIR", "/ov"), FakeFileSystem({"/ov/runtime/lib/intel64/libopenvino_c.so"})),
      ElementsAre("/ov/runtime/lib/intel64/libopenvino_c.so"));
}

TEST(OpenvinoFindTest, KnowsTheWindowsNamesAndPlaces) {
  SearchFacts facts;
  facts.system = System::kWindows;
  facts.module_folder = "C:/app/bin";
  const std::string shipped = "C:/app/runtime/venv/Lib/site-packages/openvino/libs/openvino_c.dll";
  const std::string installed = "C:/Program Files (x86)/Intel/openvino_2026/runtime/bin/intel64/Release/openvino_c.dll";
  EXPECT_THAT(found(facts, FakeFileSystem({shipped, installed})), ElementsAre(shipped, installed));
}

TEST(OpenvinoFindTest, NeverLooksInTheCurrentFolder) {
  SearchFacts facts = with_variable("VIRTUAL_ENV", ".");
  facts.variables["LD_LIBRARY_PATH"] = ":.:relative";
  facts.variables["CONDA_PREFIX"] = "relative";
  EXPECT_THAT(found(facts, FakeFileSystem({"./libopenvino_c.so", "libopenvino_c.so", "relative/libopenvino_c.so",
                                           "/libopenvino_c.so"})),
              IsEmpty());
}

}  // namespace
}  // namespace latebind::openvino
