// Opening the library: every way in which one can be wrong, each with the error that says so.
#include "backends/openvino/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "backends/openvino/backend.h"
#include "backends/openvino/find.h"
#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "tests/fakes/fake_openvino_library.h"
#include "tests/fakes/loaded.h"
#include "tests/support/fake_file_system.h"
#include "tests/support/latch.h"

namespace latebind::openvino {
namespace {

using core::StatusCode;
using latebind::test::FakeOpenvino;
using latebind::test::set_variable;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

class LoadTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(fake_.defects(), "");
    EXPECT_EQ(fake_.alive(), 0);
  }
  std::shared_ptr<core::Backend> backend() { return make_backend({.library_path = fake_.file().string()}); }

  FakeOpenvino fake_;
};

TEST_F(LoadTest, OpensNothingBeforeTheFirstQuestion) {
  const auto made = backend();
  EXPECT_EQ(made->name(), "openvino");
  EXPECT_EQ(fake_.calls("ov_get_openvino_version"), 0);
  EXPECT_TRUE(made->available().ok());
  EXPECT_EQ(fake_.calls("ov_get_openvino_version"), 1);
}

TEST_F(LoadTest, ADiagnosisLooksForTheLibraryFirst) {
  const auto made = backend();
  const auto diagnosis = made->diagnosis(nullptr);
  ASSERT_FALSE(diagnosis.search.empty());
  EXPECT_TRUE(diagnosis.search.back().opened);
  EXPECT_NE(diagnosis.install_hint, "");
}

TEST_F(LoadTest, ADiagnosisIsOfTheLastSearchAndMakesNoOther) {
  fake_.remove();
  const auto made = backend();
  EXPECT_FALSE(made->available().ok());
  fake_.install();
  const auto diagnosis = made->diagnosis(nullptr);
  ASSERT_FALSE(diagnosis.search.empty());
  EXPECT_FALSE(diagnosis.search.back().opened);
}

TEST_F(LoadTest, AReportListsTheDevicesOnce) {
  core::Registry registry;
  ASSERT_TRUE(registry.add(backend()).ok());
  const auto reports = core::Engine(registry).report();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_FALSE(reports.front().devices.empty());
  EXPECT_EQ(fake_.calls("ov_core_get_available_devices"), 1);
}

TEST_F(LoadTest, ASuccessfulLoadIsKept) {
  const auto made = backend();
  ASSERT_TRUE(made->available().ok());
  ASSERT_TRUE(made->available().ok());
  EXPECT_EQ(*made->runtime_version(), "2026.4.1-fake");
  EXPECT_EQ(fake_.calls("ov_get_openvino_version"), 1);
  EXPECT_EQ(fake_.calls("ov_core_create"), 0);
}

TEST_F(LoadTest, TheFolderDoesAsWellAsTheFile) {
  const auto made = make_backend({.library_path = fake_.folder().string()});
  EXPECT_TRUE(made->available().ok()) << made->available().to_string();
  EXPECT_TRUE(made->diagnosis(nullptr).search.back().opened);
  EXPECT_EQ(made->diagnosis(nullptr).search.back().place, fake_.file().string());
}

TEST_F(LoadTest, EachMissingFunctionIsNamed) {
#define LB_NAME(name, result, parameters) #name,
  const std::vector<std::string> names{LB_OPENVINO_REQUIRED(LB_NAME)};
#undef LB_NAME
  ASSERT_GT(names.size(), 40U);
  for (const std::string& name : names) {
    FakeOpenvino lacking;
    lacking.remove_function(name);
    const auto opened = open_library(lacking.file().string());
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_EQ(opened.status().code(), StatusCode::kLibraryUnusable) << name;
    EXPECT_THAT(opened.status().to_string(), HasSubstr("lacks 1 of")) << name;
    EXPECT_THAT(opened.status().to_string(), HasSubstr(name));
    EXPECT_THAT(opened.status().to_string(), HasSubstr(lacking.file().string()));
    EXPECT_EQ(lacking.alive(), 0) << name;
  }
}

TEST_F(LoadTest, WhatIsNoLibraryIsRefusedWithTheLoadersWords) {
  fake_.make_text_file();
  const auto status = backend()->available();
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(status.to_string(), HasSubstr("invalid ELF header"));
  EXPECT_THAT(status.to_string(), HasSubstr(fake_.file().string()));
  EXPECT_THAT(status.to_string(), HasSubstr("latebind/runtime openvino"));
}

TEST_F(LoadTest, AnotherProcessorsLibraryIsRefused) {
  fake_.make_other_architecture();
  const auto status = backend()->available();
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(status.to_string(), HasSubstr(fake_.file().string()));
}

TEST_F(LoadTest, ALibraryThatWasCutOffIsRefused) {
  fake_.cut_off();
  EXPECT_EQ(backend()->available().code(), StatusCode::kLibraryUnusable);
}

TEST_F(LoadTest, TooOldSaysFoundAndNeeded) {
  fake_.script("version 2023.3.0-13775\n");
  const auto status = backend()->available();
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(status.to_string(), HasSubstr("2023.3.0-13775"));
  EXPECT_THAT(status.to_string(), HasSubstr("2024.6 or newer"));
}

TEST_F(LoadTest, TheOldestVersionIsTakenAndTheOneBeforeIsNot) {
  fake_.script("version 2024.5.0\n");
  EXPECT_EQ(backend()->available().code(), StatusCode::kLibraryUnusable);
  fake_.script("version 2024.6.0\n");
  EXPECT_TRUE(backend()->available().ok());
  fake_.script("version 2031.0\n");
  EXPECT_TRUE(backend()->available().ok());
}

TEST_F(LoadTest, AVersionThatIsNoneIsRefused) {
  for (const char* version : {"banana", "2026", "2026.", "-1.2"}) {
    fake_.script(std::string("version ") + version + "\n");
    EXPECT_EQ(backend()->available().code(), StatusCode::kLibraryUnusable) << version;
  }
}

TEST_F(LoadTest, AFailedVersionQuestionIsAnErrorWithTheVendorsNumber) {
  fake_.script("fail ov_get_openvino_version * -17 broken\n");
  const auto status = backend()->available();
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
}

TEST_F(LoadTest, ElementTypesAreNumberedAsTheLibraryNumbersThem) {
  fake_.script("numbering 2024\n");
  const auto opened = open_library(fake_.file().string());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*opened)->element_types.code_of(core::ElementType::kF32), 5U);
}

TEST_F(LoadTest, ALibraryThatAppearsAfterTheFirstFailureIsUsed) {
  fake_.remove();
  const auto made = backend();
  EXPECT_EQ(made->available().code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(made->available().to_string(), HasSubstr(fake_.file().string()));
  EXPECT_EQ(made->devices().status().code(), StatusCode::kLibraryNotFound);
  EXPECT_FALSE(made->diagnosis(nullptr).search.back().opened);
  fake_.install();
  EXPECT_TRUE(made->available().ok());
  EXPECT_TRUE(made->devices().ok());
  EXPECT_TRUE(made->diagnosis(nullptr).search.back().opened);
}

TEST_F(LoadTest, ADamagedLibraryThatIsMendedIsUsed) {
  fake_.make_text_file();
  const auto made = backend();
  EXPECT_EQ(made->available().code(), StatusCode::kLibraryUnusable);
  fake_.install();
  EXPECT_TRUE(made->available().ok());
}

TEST_F(LoadTest, SixteenThreadsThatRaceGetOneLibrary) {
  fake_.script("slow load 50\n");
  const auto made = backend();
  constexpr int kThreads = 16;
  latebind::test::Latch start(kThreads);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      if (made->available().ok() && made->devices().ok()) ++good;
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(good, kThreads);
  EXPECT_EQ(fake_.calls("ov_get_openvino_version"), 1);
  EXPECT_EQ(fake_.calls("ov_core_create"), 1);
}

TEST_F(LoadTest, ARelativePathIsRefused) {
  const auto status = make_backend({.library_path = "libopenvino_c.so"})->available();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.to_string(), HasSubstr("relative"));
}

TEST_F(LoadTest, AFolderWithoutTheLibrarySaysSo) {
  fake_.remove();
  const auto status = make_backend({.library_path = fake_.folder().string()})->available();
  EXPECT_EQ(status.code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(status.to_string(), HasSubstr("no libopenvino_c.so in it"));
  EXPECT_THAT(status.to_string(), Not(HasSubstr("symbol")));
}

// The whole search with nothing anywhere: the line is what to type, and its details are complete.
TEST(SearchErrorTest, SaysWhatToTypeAndItsDetailsNameEveryPlace) {
  const latebind::test::FakeFileSystem files;
  core::SearchFacts facts;
  facts.module_folder = "/opt/program/bin";
  facts.home_folder = "/home/me";
  Loader loader(
      vendor_library(core::System::kLinux, "x86_64"), [&] { return facts; }, open_library, files);
  const auto status = loader.library().status();
  EXPECT_EQ(status.code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(status.to_string(), HasSubstr("latebind/runtime openvino"));
  EXPECT_LT(status.to_string().size(), 128U) << "the remedy must survive a log that cuts lines";
  const std::string text(status.details());
  EXPECT_THAT(text, HasSubstr(kLibraryVariable));
  const auto trace = loader.trace();
  EXPECT_GT(trace.size(), 10U);
  for (const auto& step : trace) {
    EXPECT_THAT(text, HasSubstr(step.place));
    EXPECT_FALSE(step.opened);
  }
  EXPECT_THAT(trace, Contains(Field(&core::SearchStep::place, "/opt/program/runtime")));
}

TEST(SearchErrorTest, ASearchGoesOnBehindALibraryThatDoesNotDo) {
  FakeOpenvino broken;
  FakeOpenvino good("libopenvino_c.so.2541");
  broken.make_text_file();
  const auto wanted = vendor_library(core::System::kLinux, "x86_64");
  Loader loader(
      wanted,
      [&] {
        core::SearchFacts facts;
        facts.variables["LD_LIBRARY_PATH"] = broken.folder().string() + ":" + good.folder().string();
        return facts;
      },
      open_library);
  const auto opened = loader.library();
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*opened)->file, good.file().string());
  const auto trace = loader.trace();
  EXPECT_TRUE(std::ranges::any_of(trace, [&](const core::SearchStep& step) {
    return step.place == broken.file().string() && !step.opened && !step.outcome.empty();
  }));
}

class VariableTest : public LoadTest {
 protected:
  void TearDown() override {
    set_variable(kLibraryVariable, std::nullopt);
    set_variable(kExecutorchVariable, std::nullopt);
    LoadTest::TearDown();
  }
};

TEST_F(VariableTest, OursAndTheOneOfExecutorchLeadToTheLibrary) {
  set_variable(kExecutorchVariable, fake_.file().string());
  EXPECT_EQ(*make_backend()->runtime_version(), "2026.4.1-fake");
  set_variable(kLibraryVariable, "/nowhere/at/all");
  const auto status = make_backend()->available();
  EXPECT_EQ(status.code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(status.to_string(), HasSubstr(kLibraryVariable));
  EXPECT_THAT(status.to_string(), HasSubstr("/nowhere/at/all"));
}

TEST_F(VariableTest, AnEmptyVariableIsNoVariable) {
  set_variable(kLibraryVariable, "");
  set_variable(kExecutorchVariable, fake_.folder().string());
  EXPECT_EQ(*make_backend()->runtime_version(), "2026.4.1-fake");
}

TEST_F(VariableTest, TheConfiguredPathWinsOverThem) {
  set_variable(kLibraryVariable, "/nowhere/at/all");
  EXPECT_TRUE(backend()->available().ok());
}

}  // namespace
}  // namespace latebind::openvino
