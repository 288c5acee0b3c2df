// What is told to the search of core/vendor/vendor_search.h, whose rules have tests of their own.
#include "backends/onnxruntime/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_file_system.h"

namespace latebind::onnxruntime {
namespace {

using core::SearchFacts;
using core::System;
using test::FakeFileSystem;
using test::files_of;
using testing::ElementsAre;

TEST(OnnxruntimeFindTest, HonoursTheVariablesOfTheRustBinding) {
  const auto wanted = wanted_library(System::kLinux);
  EXPECT_THAT(wanted.library_variables, ElementsAre("LATEBIND_ONNXRUNTIME_LIBRARY", "ORT_LIB_PATH", "ORT_DYLIB_PATH"));
  SearchFacts facts;
  facts.variables["ORT_DYLIB_PATH"] = "/x/libonnxruntime.so";
  facts.variables["VIRTUAL_ENV"] = "/venv";
  const FakeFileSystem files(
      {"/x/libonnxruntime.so", "/venv/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.31.1"});
  const auto list = core::search_list(wanted, facts, files);
  EXPECT_EQ(list.chosen_by, "ORT_DYLIB_PATH");
  EXPECT_THAT(files_of(list), ElementsAre("/x/libonnxruntime.so"));
}

TEST(OnnxruntimeFindTest, FindsThePythonPackagesLibraryAndNotItsNeighbours) {
  SearchFacts facts;
  facts.variables["VIRTUAL_ENV"] = "/venv";
  const std::string capi = "/venv/lib/python3.12/site-packages/onnxruntime/capi/";
  const FakeFileSystem files({capi + "libonnxruntime.so.1.31.1", capi + "libonnxruntime_providers_shared.so",
                              capi + "onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so",
                              capi + "libonnxruntime.so.1.9.0"});
  EXPECT_THAT(files_of(core::search_list(wanted_library(System::kLinux), facts, files)),
              ElementsAre(capi + "libonnxruntime.so.1.31.1", capi + "libonnxruntime.so.1.9.0"));
}

TEST(OnnxruntimeFindTest, FindsTheVendorsArchivesNewestFirst) {
  const FakeFileSystem linux_files({"/opt/onnxruntime-linux-x64-1.9.0/lib/libonnxruntime.so",
                                    "/opt/onnxruntime-linux-x64-1.31.1/lib/libonnxruntime.so"});
  EXPECT_THAT(files_of(core::search_list(wanted_library(System::kLinux), SearchFacts{}, linux_files)),
              ElementsAre("/opt/onnxruntime-linux-x64-1.31.1/lib/libonnxruntime.so",
                          "/opt/onnxruntime-linux-x64-1.9.0/lib/libonnxruntime.so"));
  SearchFacts facts;
  facts.system = System::kWindows;
  const FakeFileSystem windows_files({"C:/Program Files/onnxruntime-win-x64-1.31.1/lib/onnxruntime.dll"});
  EXPECT_THAT(files_of(core::search_list(wanted_library(System::kWindows), facts, windows_files)),
              ElementsAre("C:/Program Files/onnxruntime-win-x64-1.31.1/lib/onnxruntime.dll"));
}

TEST(OnnxruntimeFindTest, FindsTheWindowsPackage) {
  SearchFacts facts;
  facts.system = System::kWindows;
  facts.variables["VIRTUAL_ENV"] = "C:/venv";
  const FakeFileSystem files({"C:/venv/Lib/site-packages/onnxruntime/capi/onnxruntime.dll"});
  EXPECT_THAT(files_of(core::search_list(wanted_library(System::kWindows), facts, files)),
              ElementsAre("C:/venv/Lib/site-packages/onnxruntime/capi/onnxruntime.dll"));
}

}  // namespace
}  // namespace latebind::onnxruntime
