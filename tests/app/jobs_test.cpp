// What the jobs report to their client. What they do is tested through the program (tests/cli).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/jobs/cache.h"
#include "app/jobs/compile.h"
#include "app/jobs/warm.h"
#include "app/model_source.h"
#include "core/platform/files/temporary_folder.h"

namespace latebind::app {
namespace {

using core::StatusCode;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// `more`: key and text.
Runtime runtime(const std::vector<std::pair<std::string, std::string>>& more = {}) {
  EffectiveSettings settings;
  for (const auto& [key, text] : more)
    EXPECT_TRUE(settings.set(key, text, "the test").ok());
  EXPECT_TRUE(settings.set("openvino.library", "/nonexistent", "the test").ok());
  EXPECT_TRUE(settings.set("onnxruntime.library", "/nonexistent", "the test").ok());
  auto made = Runtime::make(settings, {});
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return *std::move(made);
}

TEST(CompileJobTest, CallsOptionsAsItsClientDoes) {
  const CompileOptions nothing;
  const CompileReport report = compile(nothing, runtime(), {}, nullptr);
  EXPECT_FALSE(report.written);
  EXPECT_TRUE(report.options_are_wrong);
  EXPECT_THAT(report.failure.message(), StartsWith("output is empty"));
  Client client;
  client.name_of = [](std::string_view key) { return "<" + std::string(key) + ">"; };
  EXPECT_THAT(compile(nothing, runtime(), client, nullptr).failure.message(), StartsWith("<output> is empty"));
}

TEST(CompileJobTest, AModelThatIsNotThereIsNoMistakeInTheOptions) {
  CompileOptions options;
  options.model = "nowhere.onnx";
  options.output = "out.lbundle";
  options.targets = {"cpu"};
  const CompileReport report = compile(options, runtime(), {}, nullptr);
  EXPECT_EQ(report.failure.code(), StatusCode::kNotFound);
  EXPECT_FALSE(report.options_are_wrong);
  EXPECT_FALSE(report.is_complete);
  EXPECT_TRUE(to_json(report)["output"].is_null());
}

TEST(WarmJobTest, WantsACacheAndADevice) {
  Settings settings;
  settings.cache = false;
  EXPECT_EQ(check_warm(settings).code(), StatusCode::kInvalidArgument);
  const auto folder = *platform::TemporaryFolder::create("jobs-test");
  const Runtime nobody = runtime({{"cache.folder", folder.path().string()}, {"device", "openvino"}});
  const auto report = warm(folder.path().string(), nobody, {});
  EXPECT_EQ(report.status().code(), StatusCode::kNoDevice);
}

TEST(CacheJobTest, AnEmptyCacheIsAReport) {
  const auto folder = *platform::TemporaryFolder::create("jobs-test");
  Settings settings;
  settings.cache_folder = (folder.path() / "none").string();
  const auto store = open_cache(settings);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  const auto listing = list_cache(**store);
  ASSERT_TRUE(listing.ok()) << listing.status().to_string();
  const Json json = to_json(*listing);
  EXPECT_THAT(json["folder"].get<std::string>(), HasSubstr("none"));
  EXPECT_EQ(json["entries"].size(), 0U);
  EXPECT_EQ(json["bytes"], 0);
}

TEST(CacheJobTest, TimesAreToldOnManyThreadsAtOnce) {
  auto noon = std::filesystem::file_time_type::clock::now();
  noon += std::chrono::hours(12 - std::stoi(utc_text(noon).substr(11, 2)));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int day = 0; day < 4; ++day) {
    threads.emplace_back([&, time = noon - std::chrono::hours(24 * 400 * day)] {
      const std::string expected = utc_text(time).substr(0, 10);
      for (int i = 0; i < 2000; ++i)
        wrong += utc_text(time).substr(0, 10) == expected ? 0 : 1;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(utc_text(noon), ::testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

TEST(ModelSourceTest, WhatExistsIsAPathWhateverItLooksLike) {
  const auto folder = *platform::TemporaryFolder::create("jobs-test");
  const auto found = find_model(folder.path().string(), {}, {});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, folder.path());
  const auto file = find_model("./nowhere/at all", {}, {});
  ASSERT_TRUE(file.ok()) << "whoever opens it says what is wrong";
}

}  // namespace
}  // namespace latebind::app
