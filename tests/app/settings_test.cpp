#include "app/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace latebind::app {
namespace {

using core::Precision;
using core::ShapeMode;
using core::StatusCode;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SettingsTest, EveryDefaultReadsBackAsItself) {
  const Settings defaults;
  for (const SettingSpec& spec : settings_schema()) {
    Settings settings;
    ASSERT_NE(spec.assign, nullptr);
    const std::string text = spec.text(defaults);
    ASSERT_TRUE(spec.assign(settings, text).ok()) << spec.key << "=" << text;
    EXPECT_EQ(spec.text(settings), text) << spec.key;
  }
}

TEST(SettingsTest, KeysVariablesAndFlagsAreUnique) {
  std::set<std::string_view> seen;
  for (const SettingSpec& spec : settings_schema()) {
    EXPECT_TRUE(seen.insert(spec.key).second) << spec.key;
    EXPECT_TRUE(seen.insert(spec.environment).second) << spec.environment;
    EXPECT_TRUE(spec.flag.empty() || seen.insert(spec.flag).second) << spec.flag;
    EXPECT_FALSE(spec.help.empty()) << spec.key;
  }
}

TEST(SettingsTest, TomlIsReadWithTablesNumbersAndLists) {
  EffectiveSettings settings;
  ASSERT_TRUE(
      settings
          .apply_toml_text("device = \"npu,cpu\"\nstrict = true\n[embedding]\nbuckets = [16, 64]\nbatch_tokens = "
                           "4096\n[cache]\nmax_size = \"2GiB\"\n[failover]\nrun_timeout_ms = 1500\n",
                           "c.toml")
          .ok());
  EXPECT_EQ(settings.values().device, "npu,cpu");
  EXPECT_TRUE(settings.values().strict);
  EXPECT_THAT(settings.values().buckets, ElementsAre(16, 64));
  EXPECT_EQ(settings.values().batch_tokens, 4096U);
  EXPECT_EQ(settings.values().cache_bytes_max, std::uint64_t{2} << 30U);
  EXPECT_EQ(settings.values().run_timeout.count(), 1500);
  EXPECT_EQ(settings.origin_of("device"), "c.toml:1");
  EXPECT_EQ(settings.origin_of("embedding.buckets"), "c.toml:4");
  EXPECT_EQ(settings.origin_of("threads"), "default");
}

TEST(SettingsTest, UnknownKeysAndWordsAreRefusedWithPlaceAndSuggestion) {
  EffectiveSettings settings;
  const auto refusal = [&](std::string_view toml) { return settings.apply_toml_text(toml, "c.toml").to_string(); };
  EXPECT_THAT(refusal("\ndevcie = \"npu\""), HasSubstr("c.toml:2: unknown setting 'devcie' (did you mean device?)"));
  EXPECT_THAT(refusal("[cache]\nmaxsize = 1"), HasSubstr("did you mean cache.max_size?"));
  EXPECT_THAT(refusal("precision = \"bf61\""),
              HasSubstr("c.toml:1: precision: unknown precision 'bf61' (did you mean bf16?)"));
  EXPECT_THAT(refusal("strict = 3.5"), HasSubstr("wrong kind"));
  EXPECT_THAT(refusal("device = "), HasSubstr("c.toml:1"));
  EXPECT_THAT(refusal("[device]\nx = 1"), HasSubstr("wrong kind"));
  EXPECT_THAT(refusal("threads = -1"), HasSubstr("0 to 1024"));
  EXPECT_THAT(refusal("[embedding]\nbuckets = [64, 32]"), HasSubstr("rising"));
}

TEST(SettingsTest, AFileWithOneMistakeChangesNothing) {
  EffectiveSettings settings;
  EXPECT_FALSE(settings.apply_toml_text("threads = 3\nnonsense = 1", "c.toml").ok());
  EXPECT_EQ(settings.values().threads, 0U);
}

TEST(SettingsTest, LaterSourcesWinAndAreNamed) {
  EffectiveSettings settings;
  ASSERT_TRUE(settings.apply_toml_text("threads = 3", "a.toml").ok());
  ASSERT_TRUE(settings.apply_environment({{"LATEBIND_THREADS", "4"}, {"HOME", "/x"}}, false).ok());
  EXPECT_EQ(settings.values().threads, 4U);
  EXPECT_EQ(settings.origin_of("threads"), "environment LATEBIND_THREADS");
  ASSERT_TRUE(settings.set("threads", "5", "--threads").ok());
  EXPECT_EQ(settings.values().threads, 5U);
  EXPECT_FALSE(settings.set("threads", "many", "--threads").ok());
  EXPECT_EQ(settings.values().threads, 5U);
}

TEST(SettingsTest, UnknownVariablesOfOurPrefixAreRefused) {
  EffectiveSettings settings;
  EXPECT_THAT(settings.apply_environment({{"LATEBIND_DEVISE", "npu"}}, false).to_string(),
              HasSubstr("did you mean LATEBIND_DEVICE?"));
  EXPECT_TRUE(settings.apply_environment({{"LATEBIND_FAKE_SCRIPT", "x"}, {"LATEBIND_DEVICE", ""}}, false).ok());
}

TEST(SettingsTest, PrivilegedProcessesIgnoreVariablesThatChooseCode) {
  EffectiveSettings settings;
  ASSERT_TRUE(
      settings.apply_environment({{"LATEBIND_OPENVINO_LIBRARY", "/evil"}, {"LATEBIND_THREADS", "2"}}, true).ok());
  EXPECT_EQ(settings.values().openvino_library, "");
  EXPECT_EQ(settings.values().threads, 2U);
}

TEST(SettingsTest, PrecisionsAreAListThatLeavesOutNothingAndRepeatsNothing) {
  Settings settings;
  settings.precisions = *parse_precisions("f16, f32");
  const core::LoadOptions load = load_options(settings);
  EXPECT_EQ(load.compile.precision, Precision::kF16);
  EXPECT_THAT(load.other_precisions, ElementsAre(Precision::kF32));
  EXPECT_FALSE(parse_precisions("").ok());
  EXPECT_FALSE(parse_precisions("f16,").ok());
  EXPECT_THAT(parse_precisions("f16,f16").status().to_string(), HasSubstr("f16 twice"));
}

}  // namespace
}  // namespace latebind::app
