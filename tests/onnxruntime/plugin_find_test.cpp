// Where providers are looked for, on any machine, without a file.
#include "backends/onnxruntime/plugin_find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_file_system.h"

namespace latebind::onnxruntime {
namespace {

using core::System;
using test::FakeFileSystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> files_of(const ProviderFacts& facts, const FakeFileSystem& files) {
  std::vector<std::string> result;
  for (const auto& candidate : provider_list(facts, files)) {
    result.push_back(candidate.why_not.empty() ? candidate.place : "!" + candidate.place);
  }
  return result;
}

const std::string kPackages = "/venv/lib/python3.12/site-packages";

TEST(OnnxruntimePluginFindTest, FindsThePackagesOfTheActivePythonEnvironment) {
  ProviderFacts facts;
  facts.search.variables["VIRTUAL_ENV"] = "/venv";
  const FakeFileSystem files({kPackages + "/onnxruntime_qnn/libonnxruntime_providers_qnn.so",
                              kPackages + "/onnxruntime_qnn/libQnnHtp.so",
                              kPackages + "/onnxruntime_ep_openvino/libonnxruntime_providers_openvino_plugin.so",
                              kPackages + "/onnxruntime_ep_openvino/libonnxruntime_providers_openvino_plugin.so.1.8.1",
                              kPackages + "/onnxruntime/capi/libonnxruntime_providers_shared.so"});
  EXPECT_THAT(files_of(facts, files),
              ElementsAre(kPackages + "/onnxruntime_qnn/libonnxruntime_providers_qnn.so",
                          kPackages + "/onnxruntime_ep_openvino/libonnxruntime_providers_openvino_plugin.so"));
}

TEST(OnnxruntimePluginFindTest, FindsThePackageBesideTheOneOfTheRuntime) {
  ProviderFacts facts;
  facts.runtime_file = kPackages + "/onnxruntime/capi/libonnxruntime.so.1.31.1";
  const FakeFileSystem files({kPackages + "/onnxruntime_qnn/libonnxruntime_providers_qnn.so"});
  EXPECT_THAT(files_of(facts, files), ElementsAre(kPackages + "/onnxruntime_qnn/libonnxruntime_providers_qnn.so"));
}

const std::string kRuntimeFolder = kPackages + "/onnxruntime/capi";

TEST(OnnxruntimePluginFindTest, APartOfABuildOfOnnxRuntimeIsFoundBesideThatBuildsLibraryAlone) {
  ProviderFacts facts;
  facts.runtime_file = kRuntimeFolder + "/libonnxruntime.so.1.31.1";
  facts.search.variables["VIRTUAL_ENV"] = "/other";
  const std::string cuda = kRuntimeFolder + "/libonnxruntime_providers_cuda.so";
  const std::string of_another =
      "/other/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime_providers_cuda.so";
  const FakeFileSystem files({cuda, kRuntimeFolder + "/libonnxruntime_providers_shared.so",
                              kRuntimeFolder + "/libonnxruntime_providers_tensorrt.so", of_another});
  EXPECT_THAT(files_of(facts, files), ElementsAre(cuda));
  facts.paths = {cuda, of_another};
  EXPECT_THAT(files_of(facts, files), ElementsAre(cuda, "!" + of_another));
  EXPECT_THAT(provider_list(facts, files).back().why_not,
              testing::AllOf(HasSubstr("beside it"), HasSubstr(facts.runtime_file)));
}

TEST(OnnxruntimePluginFindTest, WhatOthersMayHavePutThereIsLeftOutWithTheReason) {
  ProviderFacts facts;
  facts.runtime_file = kPackages + "/onnxruntime/capi/libonnxruntime.so.1.31.1";
  facts.search.home_folder = "/home/x";
  const std::string at_home =
      "/home/x/.local/lib/python3.12/site-packages/onnxruntime_qnn/libonnxruntime_providers_qnn.so";
  const std::string beside = kPackages + "/onnxruntime_qnn/libonnxruntime_providers_qnn.so";
  FakeFileSystem files({at_home, beside});
  files.others = {"/home/x"};
  EXPECT_THAT(files_of(facts, files), ElementsAre("!" + at_home, beside));
  EXPECT_THAT(provider_list(facts, files).front().why_not, HasSubstr("is another user's"));
  files.others = {"/home/x", "/venv"};
  EXPECT_THAT(files_of(facts, files), ElementsAre("!" + at_home, "!" + beside));
  facts.paths = {beside};
  EXPECT_THAT(files_of(facts, files), ElementsAre(beside));
}

TEST(OnnxruntimePluginFindTest, FindsThePackagesOnWindows) {
  ProviderFacts facts;
  facts.search.system = System::kWindows;
  facts.search.variables["VIRTUAL_ENV"] = "C:/venv";
  const FakeFileSystem files({"C:/venv/Lib/site-packages/onnxruntime_qnn/onnxruntime_providers_qnn.dll"});
  EXPECT_THAT(files_of(facts, files),
              ElementsAre("C:/venv/Lib/site-packages/onnxruntime_qnn/onnxruntime_providers_qnn.dll"));
}

TEST(OnnxruntimePluginFindTest, WhoNamesPlacesGetsThoseAndNoOthers) {
  ProviderFacts facts;
  facts.search.variables["VIRTUAL_ENV"] = "/venv";
  facts.paths = {"/one/libanything.so", "/two/", "/two", "/none", "/empty", "relative"};
  const FakeFileSystem files({kPackages + "/onnxruntime_qnn/libonnxruntime_providers_qnn.so", "/one/libanything.so",
                              "/two/libonnxruntime_providers_b.so", "/two/libonnxruntime_providers_a.so.1.9",
                              "/two/libonnxruntime_providers_a.so.1.10", "/two/libonnxruntime_providers_shared.so",
                              "/two/other.so", "/empty/readme"});
  EXPECT_THAT(files_of(facts, files),
              ElementsAre("/one/libanything.so", "/two/libonnxruntime_providers_a.so.1.10",
                          "/two/libonnxruntime_providers_b.so", "!/none", "!/empty", "!relative"));
  EXPECT_THAT(provider_list(facts, files).back().why_not, HasSubstr("the current folder is never searched"));
}

TEST(OnnxruntimePluginFindTest, NoneMeansNone) {
  ProviderFacts facts;
  facts.search.variables["VIRTUAL_ENV"] = "/venv";
  facts.paths = {"none"};
  const FakeFileSystem files({kPackages + "/onnxruntime_qnn/libonnxruntime_providers_qnn.so"});
  EXPECT_THAT(files_of(facts, files), IsEmpty());
}

TEST(OnnxruntimePluginFindTest, APrivilegedProcessLooksIntoNoHomeFolder) {
  ProviderFacts facts;
  facts.search.home_folder = "/home/x";
  const FakeFileSystem files(
      {"/home/x/.local/lib/python3.12/site-packages/onnxruntime_qnn/libonnxruntime_providers_qnn.so"});
  EXPECT_EQ(files_of(facts, files).size(), 1U);
  facts.search.privileged = true;
  EXPECT_THAT(files_of(facts, files), IsEmpty());
}

}  // namespace
}  // namespace latebind::onnxruntime
