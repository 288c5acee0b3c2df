#include "backends/openvino/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace latebind::openvino {
namespace {

using core::CompileOptions;
using core::PerformanceHint;
using core::Precision;
using core::StatusCode;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

Properties made(const std::string& device, const CompileOptions& options, unsigned processors = 4) {
  auto properties = properties_for(device, options, processors);
  EXPECT_TRUE(properties.ok()) << properties.status().to_string();
  return properties.ok() ? *properties : Properties{};
}

TEST(PropertiesTest, AlwaysNameThePrecision) {
  for (const auto& [precision, word] : std::map<Precision, std::string>{
           {Precision::kF32, "f32"}, {Precision::kBF16, "bf16"}, {Precision::kF16, "f16"}}) {
    for (const char* device : {"CPU", "GPU.1", "NPU"}) {
      EXPECT_THAT(made(device, {.precision = precision}), Contains(Pair("INFERENCE_PRECISION_HINT", word)));
    }
  }
}

TEST(PropertiesTest, APrecisionThatTheVendorHasNotIsRefusedByName) {
  for (const auto& [precision, word] :
       std::map<Precision, std::string>{{Precision::kInt8, "int8"}, {Precision::kFast, "fast"}}) {
    const auto status = properties_for("CPU", {.precision = precision}, 4).status();
    EXPECT_EQ(status.code(), core::StatusCode::kUnsupported);
    EXPECT_THAT(status.to_string(), ::testing::HasSubstr(word + " was requested"));
  }
}

TEST(PropertiesTest, OneStreamForLatencyHoweverManyRequests) {
  const auto properties = made("CPU", {.requests = 3});
  EXPECT_THAT(properties, Contains(Pair("NUM_STREAMS", "1")));
  EXPECT_THAT(properties, Contains(Pair("INFERENCE_NUM_THREADS", "4")));
  EXPECT_THAT(properties, Contains(Pair("PERFORMANCE_HINT", "LATENCY")));
}

TEST(PropertiesTest, OneThreadIsTheCallersUnlessTheUserSetsWhatNeedsAStream) {
  EXPECT_THAT(made("CPU", {.threads = 1}), Contains(Pair("NUM_STREAMS", "0")));
  EXPECT_THAT(made("CPU", {.hint = PerformanceHint::kThroughput, .threads = 1}), Contains(Pair("NUM_STREAMS", "0")));
  EXPECT_THAT(made("CPU", {.properties = {{"INFERENCE_NUM_THREADS", "1"}}}), Contains(Pair("NUM_STREAMS", "0")));
  for (const char* key : {"NUM_STREAMS", "ENABLE_CPU_PINNING", "SCHEDULING_CORE_TYPE"}) {
    EXPECT_THAT(made("CPU", {.threads = 1, .properties = {{key, "1"}}}), Contains(Pair("NUM_STREAMS", "1"))) << key;
  }
}

TEST(PropertiesTest, AStreamForEachThreadForThroughput) {
  const auto properties = made("CPU", {.hint = PerformanceHint::kThroughput, .threads = 2});
  EXPECT_THAT(properties, Contains(Pair("NUM_STREAMS", "2")));
  EXPECT_THAT(properties, Contains(Pair("INFERENCE_NUM_THREADS", "2")));
  EXPECT_THAT(made("CPU", {.hint = PerformanceHint::kThroughput, .threads = 4, .requests = 2}),
              Contains(Pair("NUM_STREAMS", "2")));
  EXPECT_THAT(made("CPU", {.hint = PerformanceHint::kThroughput, .threads = 2, .requests = 8}),
              Contains(Pair("NUM_STREAMS", "2")));
}

TEST(PropertiesTest, StreamsGrowSlowerThanThreadsAndThenNoMore) {
  EXPECT_EQ(default_streams(0), 1U);
  EXPECT_EQ(default_streams(8), 8U);
  EXPECT_EQ(default_streams(12), 8U);
  EXPECT_EQ(default_streams(24), 12U);
  EXPECT_EQ(default_streams(192), 16U);
}

TEST(PropertiesTest, KeepsMoreShapesWhereTheyRecur) {
  const auto capacity = [](const core::CompileOptions& options) {
    const auto properties = made("CPU", options);
    const auto found = std::ranges::find(properties, "CPU_RUNTIME_CACHE_CAPACITY", &Properties::value_type::first);
    return found == properties.end() ? std::string() : found->second;
  };
  EXPECT_EQ(capacity({.hint = core::PerformanceHint::kThroughput}), "16");
  EXPECT_EQ(capacity({.hint = core::PerformanceHint::kThroughput, .shapes_recur = true}), "128");
  EXPECT_EQ(capacity({.hint = core::PerformanceHint::kLatency}), "96");
}

TEST(PropertiesTest, TheShapesThatAreKeptAreKnownOfOneStream) {
  const auto kept = [](std::string_view device, const core::CompileOptions& options) {
    return kept_shapes(device, made(std::string(device), options));
  };
  EXPECT_EQ(kept("CPU", {.hint = core::PerformanceHint::kLatency}), 24U);
  EXPECT_EQ(kept("CPU", {.properties = {{"CPU_RUNTIME_CACHE_CAPACITY", "40"}}}), 10U);
  EXPECT_EQ(kept("CPU", {.properties = {{"NUM_STREAMS", "AUTO"}}}), 0U);
  EXPECT_EQ(kept("CPU", {.hint = core::PerformanceHint::kThroughput, .threads = 1}), 4U);
  EXPECT_EQ(kept("CPU", {.hint = core::PerformanceHint::kThroughput, .threads = 2}), 0U);
  EXPECT_EQ(kept("GPU", {}), 0U);
}

TEST(PropertiesTest, ThreadsAreTheCpusAffair) {
  const auto properties = made("NPU", {.threads = 2, .requests = 4});
  EXPECT_THAT(properties, Not(Contains(Key("INFERENCE_NUM_THREADS"))));
  EXPECT_THAT(properties, Not(Contains(Key("NUM_STREAMS"))));
  EXPECT_THAT(properties, Contains(Pair("PERFORMANCE_HINT_NUM_REQUESTS", "4")));
}

TEST(PropertiesTest, TheUsersOwnComeLastAndReplaceOurs) {
  const auto properties = made("CPU", {.properties = {{"NUM_STREAMS", "7"}, {"CACHE_DIR", std::string("/c\0\0", 4)}}});
  EXPECT_EQ(std::ranges::count(properties, "NUM_STREAMS", &Properties::value_type::first), 1);
  EXPECT_THAT(properties, Contains(Pair("NUM_STREAMS", "7")));
  EXPECT_THAT(properties, Contains(Pair("CACHE_DIR", "/c")));
}

TEST(PropertiesTest, RefuseNamesAndValuesThatAreNone) {
  const auto code = [](std::string key, std::string value) {
    return properties_for("CPU", {.properties = {{std::move(key), std::move(value)}}}, 1).status().code();
  };
  EXPECT_EQ(code("", "x"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("TWO WORDS", "x"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(std::string("A\0B", 3), "x"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(std::string(129, 'A'), "x"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("A", std::string("x\0y", 3)), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("A", std::string(1 << 17, 'x')), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("A", ""), StatusCode::kOk);
}

TEST(PropertiesTest, RefuseMoreThanCanBePassed) {
  CompileOptions options;
  for (std::size_t i = 0; i < kPropertiesMax; ++i)
    options.properties["KEY_" + std::to_string(i)] = "x";
  EXPECT_EQ(properties_for("CPU", options, 1).status().code(), StatusCode::kInvalidArgument);
}

TEST(PropertiesTest, RefuseAbsurdCounts) {
  EXPECT_EQ(properties_for("CPU", {.threads = 1'000'000}, 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(properties_for("CPU", {.requests = 1'000'000}, 1).status().code(), StatusCode::kInvalidArgument);
}

TEST(DeviceNameTest, IsStrippedAndBounded) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(*checked_device("GPU.1\0\0"sv), "GPU.1");
  for (const auto bad : {""sv, "\0"sv, "A B"sv, "CPU\n"sv, "C\0PU"sv, "\xff"sv}) {
    EXPECT_EQ(checked_device(bad).status().code(), StatusCode::kInvalidArgument) << bad;
  }
  const auto status = checked_device(std::string(100'000, 'x')).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_LT(status.to_string().size(), 300U);
}

}  // namespace
}  // namespace latebind::openvino
