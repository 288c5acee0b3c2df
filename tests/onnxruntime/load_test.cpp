// Libraries that are missing, wrong, too old, or come later.
#include "backends/onnxruntime/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <vector>

#include "backends/onnxruntime/backend.h"
#include "tests/onnxruntime/fake_library.h"
#include "tests/support/latch.h"

namespace latebind::onnxruntime {
namespace {

using core::StatusCode;
using test::FakeLibrary;
using testing::AllOf;
using testing::HasSubstr;

core::Status open_variant(const std::string& variant) {
  const FakeLibrary library(variant);
  return open_library(library.file().string()).status();
}

TEST(OnnxruntimeLoadTest, OpensALibraryAndTellsItsVersion) {
  FakeLibrary library;
  const auto opened = open_library(library.file().string());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*opened)->version, "1.31.1");
  EXPECT_EQ((*opened)->api_version, 31U);
  EXPECT_EQ((*opened)->file, library.file().string());
}

TEST(OnnxruntimeLoadTest, TelemetryIsOffBeforeTheLibraryIsOpened) {
  FakeLibrary library;
  ASSERT_TRUE(open_library(library.file().string()).ok());
  EXPECT_EQ(library.state().telemetry_variable, "1");
}

TEST(OnnxruntimeLoadTest, NeverAsksForAnInterfaceThatTheLibraryDoesNotHave) {
  FakeLibrary oldest("oldest");
  ASSERT_TRUE(open_library(oldest.file().string()).ok());
  EXPECT_EQ(oldest.state().asked_version, 20U);
}

TEST(OnnxruntimeLoadTest, TakesALibraryOfTheFutureByTheInterfaceItKnows) {
  FakeLibrary future("future");
  const auto opened = open_library(future.file().string());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ(future.state().asked_version, abi::kNewestApi);
}

TEST(OnnxruntimeLoadTest, RefusesALibraryThatIsTooOld) {
  const auto status = open_variant("too_old");
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr("1.19.2"), HasSubstr("1.20 or newer"), HasSubstr("pip install")));
}

TEST(OnnxruntimeLoadTest, RefusesALibraryWithoutAVersion) {
  EXPECT_THAT(open_variant("no_version").to_string(), HasSubstr("'unknown', which is not a version of ONNX Runtime"));
}

TEST(OnnxruntimeLoadTest, RefusesALibraryWithoutTheInterfaceOfItsVersion) {
  const auto status = open_variant("no_api");
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(status.to_string(), HasSubstr("does not offer the interface of 1.31"));
}

TEST(OnnxruntimeLoadTest, RefusesALibraryWithoutAnEntryPoint) {
  EXPECT_THAT(open_variant("no_entry").to_string(), HasSubstr("OrtGetApiBase is missing"));
  EXPECT_THAT(open_variant("null_base").to_string(), HasSubstr("OrtGetApiBase gives nothing"));
}

TEST(OnnxruntimeLoadTest, RefusesALibraryThatLacksAFunction) {
  const auto status = open_variant("missing_run");
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(status.to_string(), HasSubstr("lacks 1 of the functions needed: Run"));
}

TEST(OnnxruntimeLoadTest, RefusesWhatIsNoLibrary) {
  FakeLibrary library("");
  std::ofstream(library.file()) << "this is no ELF file";
  const auto status = open_library(library.file().string()).status();
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_FALSE(status.vendor_text().empty()) << "the loader's own words are missing";
}

TEST(OnnxruntimeLoadTest, RefusesALibraryThatIsCutOff) {
  FakeLibrary library;
  std::filesystem::resize_file(library.file(), 6000);
  EXPECT_EQ(open_library(library.file().string()).status().code(), StatusCode::kLibraryUnusable);
}

TEST(OnnxruntimeLoadTest, FailureNamesThePlaceTheVariableAndTheCommand) {
  const FakeLibrary library("");
  const auto backend = make_backend({.library_path = library.folder().string()});
  const auto status = backend->available();
  EXPECT_EQ(status.code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr(library.folder().string()), HasSubstr("libonnxruntime.so"),
                                        HasSubstr("latebind/runtime onnxruntime")));
  const auto trace = backend->diagnosis(nullptr).search;
  ASSERT_EQ(trace.size(), 1U) << "a path that the user has given is all there is";
  EXPECT_FALSE(trace[0].opened);
}

TEST(OnnxruntimeLoadTest, ADiagnosisIsOfTheLastSearchAndMakesNoOther) {
  FakeLibrary library("");
  const auto backend = make_backend({.library_path = library.folder().string()});
  EXPECT_FALSE(backend->available().ok());
  library.install("good");
  const auto trace = backend->diagnosis(nullptr).search;
  ASSERT_FALSE(trace.empty());
  EXPECT_FALSE(trace.back().opened);
}

TEST(OnnxruntimeLoadTest, APathThatTheUserGaveIsNotPaperedOver) {
  const auto backend = make_backend({.library_path = "/no/such/place"});
  EXPECT_EQ(backend->available().code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(backend->available().to_string(), HasSubstr("/no/such/place"));
}

TEST(OnnxruntimeLoadTest, FindsALibraryThatCameAfterTheFirstFailure) {
  FakeLibrary library("");
  const auto backend = make_backend({.library_path = library.folder().string()});
  EXPECT_EQ(backend->available().code(), StatusCode::kLibraryNotFound);
  library.install("too_old");
  EXPECT_EQ(backend->available().code(), StatusCode::kLibraryUnusable);
  std::filesystem::remove(library.file());
  library.install("good");
  EXPECT_EQ(backend->available().to_string(), "ok");
  const auto trace = backend->diagnosis(nullptr).search;
  ASSERT_FALSE(trace.empty());
  EXPECT_TRUE(trace.back().opened);
  EXPECT_THAT(trace.back().outcome, HasSubstr("1.31.1"));
}

TEST(OnnxruntimeLoadTest, SixteenThreadsOpenItOnce) {
  FakeLibrary library;
  const auto backend = make_backend({.library_path = library.file().string()});
  test::Latch start(16);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      if (!backend->devices().ok()) ++failures;
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(library.state().envs, 1);
}

TEST(OnnxruntimeLoadTest, MakingABackendOpensNothing) {
  FakeLibrary library;
  const auto backend = make_backend({.library_path = library.file().string()});
  EXPECT_EQ(library.state().asked_version, 0U);
  EXPECT_EQ(backend->diagnosis(nullptr).install_hint, core::pip_command("onnxruntime", core::own_system()));
}

}  // namespace
}  // namespace latebind::onnxruntime
