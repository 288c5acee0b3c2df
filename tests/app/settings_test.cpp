#include "app/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/runtime.h"

namespace latebind::app {
namespace {

using core::Precision;
using core::ShapeMode;
using core::StatusCode;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SettingsTest, APortAloneIsListenedAtOnThisMachine) {
  EffectiveSettings settings;
  ASSERT_TRUE(settings.set("server.listen", "8080,:9090,0.0.0.0:1,unix:/run/x.sock", "").ok());
  EXPECT_THAT(settings.values().listen,
              ElementsAre("127.0.0.1:8080", "127.0.0.1:9090", "0.0.0.0:1", "unix:/run/x.sock"));
  for (const char* const wrong : {"70000", ":", "nowhere", ":x"})
    EXPECT_FALSE(settings.set("server.listen", wrong, "").ok()) << wrong;
}

TEST(SettingsTest, EveryDefaultReadsBackAsItself) {
  const Settings defaults;
  for (const SettingSpec& spec : settings_schema()) {
    const std::string key = spec.shown_key();
    Settings settings;
    ASSERT_NE(spec.assign, nullptr);
    const std::string text = spec.text(defaults, key);
    ASSERT_TRUE(spec.assign(settings, key, text).ok()) << key << "=" << text;
    EXPECT_EQ(spec.text(settings, key), text) << key;
    EXPECT_EQ(EffectiveSettings().text_of(key), text) << key;
    EXPECT_EQ(find_setting(key), &spec);
  }
}

TEST(SettingsTest, KeysVariablesAndFlagsAreUniqueAndEndInNul) {
  std::set<std::string_view> seen;
  for (const SettingSpec& spec : settings_schema()) {
    EXPECT_TRUE(seen.insert(spec.key).second) << spec.key;
    EXPECT_TRUE(spec.environment.empty() || seen.insert(spec.environment).second) << spec.environment;
    EXPECT_TRUE(spec.flag.empty() || seen.insert(spec.flag).second) << spec.flag;
    EXPECT_FALSE(spec.help.empty()) << spec.key;
    for (const std::string_view text : {spec.key, spec.environment, spec.flag, spec.value, spec.help})
      EXPECT_EQ(std::string_view(text.data()), text) << "the C interface hands it out";
  }
}

TEST(SettingsTest, TomlIsReadWithTablesNumbersAndLists) {
  EffectiveSettings settings;
  ASSERT_TRUE(settings
                  .apply_toml_text(
                      "device = \"npu,cpu\"\nstrict = true\n[embedding]\nstatic_lengths = [16, 64]\nbatch_tokens = "
                      "4096\n[cache]\nmax_size = \"2GiB\"\n[failover]\nrun_timeout_ms = 1500\n",
                      "c.toml")
                  .ok());
  EXPECT_EQ(settings.values().device, "npu,cpu");
  EXPECT_TRUE(settings.values().strict);
  EXPECT_THAT(settings.values().static_lengths, ElementsAre(16, 64));
  EXPECT_EQ(settings.values().batch_tokens, 4096U);
  EXPECT_EQ(settings.values().cache_bytes_max, std::uint64_t{2} << 30U);
  EXPECT_EQ(settings.values().run_timeout.count(), 1500);
  EXPECT_EQ(settings.origin_of("device"), "c.toml:1");
  EXPECT_EQ(settings.origin_of("embedding.static_lengths"), "c.toml:4");
  EXPECT_EQ(settings.origin_of("threads"), "default");
}

TEST(SettingsTest, UnknownKeysAndWordsAreRefusedWithPlaceAndSuggestion) {
  EffectiveSettings settings;
  const auto refusal = [&](std::string_view toml) { return settings.apply_toml_text(toml, "c.toml").to_string(); };
  EXPECT_THAT(refusal("\ndevcie = \"npu\""), HasSubstr("c.toml:2: unknown setting 'devcie' (did you mean device?)"));
  EXPECT_THAT(refusal("[cache]\nmaxsize = 1"), HasSubstr("did you mean cache.max_size?"));
  EXPECT_THAT(refusal("threads = 2\n[servr]\nlisten = \"8080\""),
              HasSubstr("c.toml:2: unknown section 'servr' (did you mean server?)"));
  EXPECT_THAT(refusal("[embedder]\nbatch_tokens = 1"),
              AllOf(HasSubstr("unknown section 'embedder'; known: "), HasSubstr("embedding")));
  EXPECT_THAT(refusal("precision = \"bf61\""),
              HasSubstr("c.toml:1: precision: unknown precision 'bf61' (did you mean bf16?)"));
  EXPECT_THAT(refusal("strict = 3.5"), HasSubstr("wrong kind, a fraction: it takes true|false"));
  EXPECT_THAT(refusal("\nprecision=int8  # fast"),
              HasSubstr("c.toml:2: precision = int8: a text needs quotes: precision = \"int8\""));
  EXPECT_THAT(refusal("precision = int9"),
              AllOf(HasSubstr("c.toml:1: precision = int9: unknown precision 'int9'"), HasSubstr("bf16")));
  EXPECT_THAT(refusal("[server]\nlisten = 127.0.0.1:80"),
              HasSubstr("c.toml:2: listen = 127.0.0.1:80: a text needs quotes: listen = \"127.0.0.1:80\""));
  EXPECT_THAT(refusal("[server]\nlissen = here"),
              AllOf(HasSubstr("c.toml:2: "), HasSubstr("did you mean server.listen?")));
  EXPECT_THAT(refusal("strict = yes"), HasSubstr("c.toml:1: strict = yes: is true|false, without quotes"));
  EXPECT_THAT(refusal("threads = many"), HasSubstr("c.toml:1: threads = many: value must be a whole number from 0"));
  EXPECT_THAT(refusal("device = "), HasSubstr("c.toml:1"));
  for (const char* const end : {"", "\n", "\nthreads = 2\n", "\r\nthreads = 2\r\n"}) {
    EXPECT_THAT(refusal(std::string("strict = true\ndevice = \"auto") + end),
                HasSubstr("c.toml:2: the quote at column 10 is not closed: device = \"auto"));
  }
  EXPECT_THAT(refusal("device = 'auto\n"), HasSubstr("c.toml:1: the quote at column 10 is not closed: device = 'auto"));
  EXPECT_THAT(refusal("[server]\nmodels = [\"a\", \"b]\n"),
              HasSubstr("c.toml:2: the quote at column 16 is not closed"));
  EXPECT_THAT(refusal("device = \"a\\q\" # it's\n"), Not(HasSubstr("not closed")));
  EXPECT_THAT(refusal("[server]\nmodels = 3"),
              HasSubstr("c.toml:2: server.models has a value of the wrong kind, a number: it takes [NAME=]MODEL,..., "
                        "between quotes"));
  EXPECT_THAT(refusal("[server]\nmodels = [\"a\", 3]"), HasSubstr("a list with items of the wrong kind"));
  EXPECT_THAT(refusal("[server]\naliases = true"), HasSubstr("wrong kind, true or false: it takes NAME[=MODEL],"));
  EXPECT_THAT(refusal("threads = true"), HasSubstr("wrong kind, true or false: it takes N"));
  EXPECT_THAT(refusal("[cache]\nfolder = 7"), HasSubstr("wrong kind, a number"));
  EXPECT_THAT(refusal("[device]\nx = 1"), HasSubstr("wrong kind"));
  EXPECT_THAT(refusal("threads = -1"), HasSubstr("0 to 1024"));
  EXPECT_THAT(refusal("[embedding]\nstatic_lengths = [64, 32]"), HasSubstr("rising"));
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
  // Of the Python package.
  EXPECT_TRUE(settings.apply_environment({{"LATEBIND_LIBRARY", "/x"}, {"LATEBIND_PROGRAM", "/x"}}, false).ok());
}

TEST(SettingsTest, NamesOfOtherProgramsLeadToOurs) {
  EffectiveSettings settings;
  const auto refusal = [&](const char* name, const char* value) {
    return settings.apply_environment({{name, value}}, false).to_string();
  };
  for (const char* name : {"LATEBIND_PORT", "LATEBIND_HOST"}) {
    EXPECT_THAT(refusal(name, "8080"),
                HasSubstr("did you mean LATEBIND_LISTEN, which takes ADDRESS:PORT|unix:PATH,...?"))
        << name;
  }
  EXPECT_THAT(refusal("LATEBIND_CACHE_DIR", "/x"), HasSubstr("did you mean LATEBIND_CACHE_FOLDER, which"));
  EXPECT_THAT(settings.apply_toml_text("[server]\nport = 8080", "c.toml").to_string(),
              HasSubstr("c.toml:2: unknown setting 'server.port' (did you mean server.listen, which takes"));
}

TEST(SettingsTest, WhatKubernetesSaysOfAServiceCalledLatebindIsNoMistake) {
  EffectiveSettings settings;
  EXPECT_TRUE(settings
                  .apply_environment({{"LATEBIND_PORT", "tcp://10.0.0.1:8080"},
                                      {"LATEBIND_SERVICE_HOST", "10.0.0.1"},
                                      {"LATEBIND_SERVICE_PORT_HTTP", "8080"},
                                      {"LATEBIND_PORT_8080_TCP", "tcp://10.0.0.1:8080"},
                                      {"LATEBIND_PORT_8080_TCP_ADDR", "10.0.0.1"}},
                                     false)
                  .ok());
}

TEST(SettingsTest, LimitsOfBytesAreAboveNothing) {
  EffectiveSettings settings;
  for (const char* key : {"server.max_body", "server.max_held"}) {
    for (const char* nothing : {"0", "0KiB", "00"})
      EXPECT_THAT(settings.set(key, nothing, "").to_string(), HasSubstr("must be a size above 0")) << key << nothing;
    EXPECT_TRUE(settings.set(key, "1", "").ok());
  }
  EXPECT_TRUE(settings.set("cache.max_size", "0", "").ok()) << "nothing is kept";
}

TEST(SettingsTest, PrivilegedProcessesIgnoreVariablesThatChooseCode) {
  EffectiveSettings settings;
  ASSERT_TRUE(
      settings.apply_environment({{"LATEBIND_OPENVINO_LIBRARY", "/evil"}, {"LATEBIND_THREADS", "2"}}, true).ok());
  EXPECT_FALSE(settings.is_set("openvino.library"));
  EXPECT_EQ(settings.values().threads, 2U);
}

TEST(SettingsTest, PrecisionsAreAListThatLeavesOutNothingAndRepeatsNothing) {
  EffectiveSettings settings;
  ASSERT_TRUE(settings.set("precision", "f16, f32", "").ok());
  const core::Registry nobody;
  const auto request = load_request(settings, nobody, {});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->load.compile.precision, Precision::kF16);
  EXPECT_THAT(request->load.other_precisions, ElementsAre(Precision::kF32));
  EXPECT_TRUE(request->precision_given);
  EXPECT_FALSE(parse_precisions("").ok());
  EXPECT_FALSE(parse_precisions("f16,").ok());
  EXPECT_THAT(parse_precisions("f16,f16").status().to_string(), HasSubstr("f16 twice"));
}

TEST(SettingsTest, WhatIsNotSetHasNoInfluence) {
  EffectiveSettings below;
  ASSERT_TRUE(below.apply_toml_text("device = \"gpu\"\nthreads = 3", "c.toml").ok());
  EffectiveSettings over;
  ASSERT_TRUE(over.set("threads", "4", "").ok());
  ASSERT_TRUE(over.set("device", "npu", "").ok());
  ASSERT_TRUE(over.unset("device").ok());
  EXPECT_FALSE(over.is_set("device"));
  EXPECT_EQ(over.values().device, "auto");
  EXPECT_TRUE(over.unset("strict").ok()) << "which was not set";
  EXPECT_FALSE(over.unset("divice").ok());
  ASSERT_TRUE(below.apply(over).ok());
  EXPECT_EQ(below.values().device, "gpu");
  EXPECT_EQ(below.values().threads, 4U);
  EXPECT_EQ(below.origin_of("device"), "c.toml:1");
  EXPECT_EQ(below.origin_of("threads"), "");
}

TEST(SettingsTest, WhatTheJobWantsHoldsWhereNobodySaysOtherwise) {
  const core::Registry nobody;
  EffectiveSettings settings;
  const JobDefaults host{.hint = core::PerformanceHint::kThroughput, .cache = false};
  auto request = load_request(settings, nobody, host);
  EXPECT_EQ(request->load.compile.hint, core::PerformanceHint::kThroughput);
  EXPECT_EQ(request->load.cache, nullptr);
  EXPECT_FALSE(request->precision_given);
  ASSERT_TRUE(settings.set("hint", "latency", "").ok());
  ASSERT_TRUE(settings.set("cache.folder", "/nonexistent/cache", "").ok());
  request = load_request(settings, nobody, host);
  EXPECT_EQ(request->load.compile.hint, core::PerformanceHint::kLatency);
  EXPECT_NE(request->load.cache, nullptr);
  ASSERT_TRUE(settings.set("cache.enabled", "false", "").ok());
  ASSERT_TRUE(settings.set("hint", "auto", "").ok());
  request = load_request(settings, nobody, host);
  EXPECT_EQ(request->load.compile.hint, core::PerformanceHint::kThroughput);
  EXPECT_EQ(request->load.cache, nullptr);
  EXPECT_THAT(settings.set("hint", "fast", "").to_string(), HasSubstr("known: auto, latency, throughput"));
}

TEST(SettingsTest, ShapesAndPropertiesAreSettings) {
  EffectiveSettings settings;
  ASSERT_TRUE(settings.set("input_shapes", "1x128, scalar", "").ok());
  ASSERT_EQ(settings.values().input_shapes.size(), 2U);
  EXPECT_EQ(settings.values().input_shapes[0], (core::Shape{1, 128}));
  EXPECT_EQ(settings.text_of("input_shapes"), "1x128,scalar");
  for (const char* bad : {"1xx2", "1,,2", "-1", "1x1x1x1x1x1x1x1x1", "9999999999999999", "1x0"})
    EXPECT_FALSE(settings.set("input_shapes", bad, "").ok()) << bad;
  ASSERT_TRUE(settings.apply_toml_text("[property]\nNUM_STREAMS = 2\n\"ep.a.b\" = \"c\"", "c.toml").ok());
  EXPECT_EQ(settings.values().properties.at("NUM_STREAMS"), "2");
  EXPECT_EQ(settings.text_of("property.ep.a.b"), "c");
  EXPECT_EQ(settings.origin_of("property.NUM_STREAMS"), "c.toml:2");
  EXPECT_THAT(settings.keys(), ::testing::IsSupersetOf({"device", "property.NUM_STREAMS", "property.ep.a.b"}));
  EXPECT_EQ(settings.text_of("input_shapes"), "1x128,scalar") << "as it was";
  ASSERT_TRUE(settings.apply_toml_text("property.session.x = 1.5\n", "d.toml").ok());
  EXPECT_EQ(settings.text_of("property.session.x"), "1.5");
  ASSERT_TRUE(settings.unset("property.session.x").ok());
  EXPECT_FALSE(settings.set("property.", "x", "").ok());
  EXPECT_LT(settings.set("property." + std::string(1 << 20, 'x'), "x", "").message().size(), 1000U);
  EXPECT_FALSE(settings.set("property.x", std::string(100'000, 'x'), "").ok());
  ASSERT_TRUE(settings.unset("property.NUM_STREAMS").ok());
  EXPECT_EQ(settings.values().properties.size(), 1U);
}

TEST(SettingsTest, ListsMayBeOfTexts) {
  EffectiveSettings settings;
  ASSERT_TRUE(
      settings.apply_toml_text("device = [\"npu\", \"cpu\"]\ninput_shapes = [\"1x8\", \"1x8\"]", "c.toml").ok());
  EXPECT_EQ(settings.values().device, "npu,cpu");
  EXPECT_EQ(settings.values().input_shapes.size(), 2U);
  EXPECT_FALSE(settings.apply_toml_text("device = [true]", "c.toml").ok());
}

TEST(SettingsTest, PropertiesAreBoundedAndMany) {
  EffectiveSettings settings;
  for (int i = 0; i < 1024; ++i)
    ASSERT_TRUE(settings.set("property." + std::to_string(i), "x", "").ok());
  EXPECT_THAT(settings.set("property.more", "x", "").to_string(),
              HasSubstr("there are already 1024 settings of families"));
  EXPECT_TRUE(settings.set("property.7", "y", "").ok());
  EffectiveSettings over;
  ASSERT_TRUE(over.set("device", "npu", "").ok());
  ASSERT_TRUE(over.set("property.more", "x", "").ok());
  EXPECT_EQ(settings.apply(over).code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(settings.is_set("device")) << "all of it or nothing";
  EXPECT_FALSE(settings.set("precision", std::string(5000, ','), "").ok());
}

TEST(SettingsTest, TheEnvironmentIsTakenWholeOrNotAtAll) {
  EffectiveSettings settings;
  EXPECT_FALSE(settings.apply_environment({{"LATEBIND_DEVICE", "cpu"}, {"LATEBIND_THREADS", "x"}}, false).ok());
  EXPECT_FALSE(settings.is_set("device"));
}

TEST(SettingsTest, OnlyHowItIsComputedMayComeWithAModel) {
  std::vector<std::string_view> keys;
  for (const SettingSpec& spec : settings_schema()) {
    EXPECT_FALSE(spec.of_model && spec.trusted) << spec.key;
    if (spec.of_model) keys.push_back(spec.key);
  }
  EXPECT_THAT(keys,
              ElementsAre("device", "strict", "emulate", "precision", "threads", "requests", "hint", "input_shapes"));
}

TEST(SettingsTest, BackendsAreNotToldWhatTheEnvironmentSays) {
  EffectiveSettings settings;
  ASSERT_TRUE(settings.apply_environment({{"LATEBIND_OPENVINO_LIBRARY", "/one"}}, false).ok());
  ASSERT_TRUE(settings.set("onnxruntime.library", "/two", "--onnxruntime-library").ok());
  EXPECT_EQ(settings.text_of("openvino.library"), "/one");
  EXPECT_THAT(settings.of_backends(), ElementsAre(::testing::Pair("onnxruntime.library", "/two")));
}

}  // namespace
}  // namespace latebind::app
