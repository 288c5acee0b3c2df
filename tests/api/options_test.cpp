// lb_options: keys and texts, layers, files, and what the table says of itself.
#include "tests/api/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"

namespace {

using latebind::Options;
using latebind::test::last_message;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class OptionsInterfaceTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(lb_options_create(&options), LB_OK); }
  void TearDown() override { lb_options_destroy(options); }

  lb_option_value get(const char* key) const {
    auto value = LB_INIT(lb_option_value);
    EXPECT_EQ(lb_options_get(options, key, &value), LB_OK) << last_message();
    return value;
  }

  lb_options* options = nullptr;
};

TEST_F(OptionsInterfaceTest, ATextThatNoDeviceListOrAddressCanBeIsRefusedWhereItIsSet) {
  for (const char* bad : {",,", "", "npu,", "\xff\xfe", "1", "openvino:", ":CPU", "openvino:\xff", "a b", "x:\n"}) {
    EXPECT_EQ(lb_options_set(options, "device", bad), LB_INVALID_ARGUMENT) << bad;
    EXPECT_THAT(last_message(), HasSubstr("device")) << bad;
  }
  for (const char* good : {"auto", "npu, cpu", "openvino:CPU", "onnxruntime:QNN.v73", "a_backend-of-mine:GPU.0"})
    EXPECT_EQ(lb_options_set(options, "device", good), LB_OK) << last_message();
  for (const char* bad : {"foo", "127.0.0.1:", "127.0.0.1:65536", ":", "65536", "unix:", "[::1]:0,foo"})
    EXPECT_EQ(lb_options_set(options, "server.listen", bad), LB_INVALID_ARGUMENT) << bad;
  for (const char* good : {"127.0.0.1:8080", "8080", ":8080", "[::1]:0", "unix:/run/a.sock,localhost:1", ""})
    EXPECT_EQ(lb_options_set(options, "server.listen", good), LB_OK) << last_message();
}

TEST_F(OptionsInterfaceTest, WhatIsListedIsFoundUnderTheKeyThatTheListHas) {
  for (size_t i = 0; i < lb_option_count(); ++i) {
    auto listed = LB_INIT(lb_option_info);
    ASSERT_EQ(lb_option_at(i, &listed), LB_OK);
    auto found = LB_INIT(lb_option_info);
    ASSERT_EQ(lb_option_find(listed.key, &found), LB_OK) << last_message();
    EXPECT_STREQ(found.help, listed.help);
    EXPECT_EQ(get(listed.key).is_set, 0);
  }
  EXPECT_EQ(lb_options_set(options, "property.", "x"), LB_INVALID_ARGUMENT);
}

TEST_F(OptionsInterfaceTest, WhatIsSetIsReadBackWithWhoSetIt) {
  EXPECT_STREQ(get("device").text, "auto");
  EXPECT_STREQ(get("device").origin, "default");
  EXPECT_EQ(get("device").is_set, 0);
  ASSERT_EQ(lb_options_set(options, "device", "npu,cpu"), LB_OK);
  const lb_option_value kept = get("device");
  EXPECT_STREQ(kept.text, "npu,cpu");
  EXPECT_STREQ(kept.origin, "");
  EXPECT_EQ(kept.is_set, 1);
  ASSERT_EQ(lb_options_set(options, "threads", "2"), LB_OK);
  ASSERT_EQ(lb_options_set(options, "threads", nullptr), LB_OK);
  ASSERT_EQ(lb_options_set(options, "threads", "2"), LB_OK);
  ASSERT_EQ(lb_options_apply(options, options), LB_OK);
  const Options over{{"requests", "1"}};
  ASSERT_EQ(lb_options_apply(options, over.get()), LB_OK);
  ASSERT_EQ(lb_options_read_environment(options), LB_OK);
  EXPECT_EQ(get("device").text, kept.text) << "which holds until that key is changed";
  EXPECT_STREQ(kept.text, "npu,cpu");
  ASSERT_EQ(lb_options_set(options, "device", nullptr), LB_OK);
  EXPECT_EQ(get("device").is_set, 0);
  EXPECT_STREQ(get("threads").text, "2");
}

TEST_F(OptionsInterfaceTest, UnknownKeysAndWordsAreRefusedAndChangeNothing) {
  EXPECT_EQ(lb_options_set(options, "divice", "cpu"), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("unknown setting 'divice' (did you mean device?)"));
  EXPECT_EQ(lb_options_set(options, "divice", nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_set(options, "precision", "f31"), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), testing::StartsWith("precision: unknown precision 'f31'"));
  EXPECT_EQ(get("precision").is_set, 0);
  auto value = LB_INIT(lb_option_value);
  EXPECT_EQ(lb_options_get(options, "divice", &value), LB_INVALID_ARGUMENT);
}

TEST_F(OptionsInterfaceTest, AFileIsTakenWholeOrNotAtAll) {
  const std::string file = (std::filesystem::path(::testing::TempDir()) / "latebind-options.toml").string();
  std::ofstream(file) << "device = \"npu\"\n[property]\nNUM_STREAMS = 2\n";
  ASSERT_EQ(lb_options_read_file(options, file.c_str()), LB_OK) << last_message();
  EXPECT_STREQ(get("device").text, "npu");
  EXPECT_THAT(get("device").origin, AllOf(HasSubstr("latebind-options.toml"), EndsWith(":1")));
  EXPECT_STREQ(get("property.NUM_STREAMS").text, "2");
  std::ofstream(file) << "device = \"gpu\"\nnonsense = 1\n";
  EXPECT_EQ(lb_options_read_file(options, file.c_str()), LB_INVALID_ARGUMENT);
  EXPECT_STREQ(get("device").text, "npu");
  std::filesystem::remove(file);
  EXPECT_EQ(lb_options_read_file(options, file.c_str()), LB_NOT_FOUND);
  EXPECT_EQ(lb_options_read_standard(options, file.c_str()), LB_NOT_FOUND);
  EXPECT_EQ(lb_options_read_standard(options, nullptr), LB_OK) << last_message();
  EXPECT_EQ(lb_options_read_environment(options), LB_OK) << last_message();
}

TEST_F(OptionsInterfaceTest, LayersAreLaidOverEachOther) {
  ASSERT_EQ(lb_options_set(options, "device", "npu"), LB_OK);
  ASSERT_EQ(lb_options_set(options, "threads", "2"), LB_OK);
  const Options over{{"threads", "3"}};
  ASSERT_EQ(lb_options_apply(options, over.get()), LB_OK);
  EXPECT_STREQ(get("device").text, "npu");
  EXPECT_STREQ(get("threads").text, "3");
  ASSERT_EQ(lb_options_apply(options, options), LB_OK);
  EXPECT_STREQ(get("threads").text, "3");
}

TEST_F(OptionsInterfaceTest, TheTableDescribesItself) {
  std::set<std::string> keys;
  ASSERT_GT(lb_option_count(), 20U);
  for (size_t i = 0; i < lb_option_count(); ++i) {
    auto info = LB_INIT(lb_option_info);
    ASSERT_EQ(lb_option_at(i, &info), LB_OK);
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    EXPECT_STRNE(info.help, "") << info.key;
    const std::string key = std::string(info.key) + (std::string(info.key).ends_with('.') ? "KEY" : "");
    auto found = LB_INIT(lb_option_info);
    ASSERT_EQ(lb_option_find(key.c_str(), &found), LB_OK);
    EXPECT_STREQ(found.key, info.key);
    EXPECT_STREQ(get(key.c_str()).text, info.default_text) << key;
  }
  EXPECT_THAT(keys, testing::IsSupersetOf({"device", "openvino.library", "onnxruntime.providers", "property."}));
  auto info = LB_INIT(lb_option_info);
  ASSERT_EQ(lb_option_find("openvino.library", &info), LB_OK);
  EXPECT_EQ(info.of_model, 0);
  EXPECT_STREQ(info.environment, "LATEBIND_OPENVINO_LIBRARY");
  EXPECT_STREQ(info.flag, "--openvino-library");
  ASSERT_EQ(lb_option_find("device", &info), LB_OK);
  EXPECT_EQ(info.of_model, 1);
  EXPECT_EQ(lb_option_at(lb_option_count(), &info), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_option_find("divice", &info), LB_INVALID_ARGUMENT);
}

TEST_F(OptionsInterfaceTest, NullIsMisuseNotACrash) {
  auto value = LB_INIT(lb_option_value);
  EXPECT_EQ(lb_options_create(nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_set(nullptr, "device", "cpu"), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_set(options, nullptr, "cpu"), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_get(nullptr, "device", &value), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_get(options, nullptr, &value), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_get(options, "device", nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_read_file(options, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_read_file(nullptr, "x"), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_read_environment(nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_options_apply(options, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_option_find(nullptr, nullptr), LB_INVALID_ARGUMENT);
  lb_options_destroy(nullptr);
}

TEST(OptionsCppTest, TheFirstMistakeIsToldByWhoeverIsGivenThem) {
  Options options{{"device", "cpu"}, {"precison", "f16"}, {"threads", "x"}};
  EXPECT_THAT(options.status().message(), HasSubstr("unknown setting 'precison' (did you mean precision?)"));
  const auto runtime = latebind::Runtime::create(options);
  ASSERT_FALSE(runtime.ok());
  EXPECT_THAT(runtime.status().message(), HasSubstr("'precison'"));
}

TEST(OptionsCppTest, CopiesAreTheirOwn) {
  EXPECT_EQ(*Options().get("device"), "auto");
  Options one{{"device", "npu"}};
  Options two = one;
  two.set("device", "cpu").set("threads", "1");
  EXPECT_EQ(*one.get("device"), "npu");
  EXPECT_EQ(*two.get("device"), "cpu");
  one = two;
  EXPECT_EQ(*one.get("threads"), "1");
  EXPECT_FALSE(one.get("thread").ok());
}

}  // namespace
