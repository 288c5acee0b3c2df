// What of a first contact is remembered, and for how long, with programs that end as they are told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/plugin/found/first_contact.h"
#include "tests/found_plugins/contact_scene.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::StatusCode;
using test::kGoodAnswer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class FirstContactTest : public testing::Test {
 protected:
  Result<ContactReport> meet(const std::string& script, const PluginSettings& settings = {}, bool again = false) {
    scene_.answer(script);
    return first_contact(scene_.options(), scene_.library.string(), "toy", settings, again);
  }

  const test::ContactScene scene_;
};

TEST_F(FirstContactTest, ASuccessIsRememberedWithWhatTheChildFound) {
  for (int i = 0; i < 2; ++i) {
    const auto report = meet(i == 0 ? kGoodAnswer : "exit 1");
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(report->name, "toy");
    EXPECT_EQ(report->version, "1.2");
    EXPECT_TRUE(report->availability.ok());
    EXPECT_THAT(report->devices, ElementsAre(Pair("CPU", "1.0")));
    EXPECT_EQ(report->digest.size(), 64U);
  }
  EXPECT_EQ(scene_.calls(), 1U);
}

TEST_F(FirstContactTest, ASuccessIsOneOfTheBytesAndNotOfTheFile) {
  ASSERT_TRUE(meet(kGoodAnswer).ok());
  std::filesystem::remove(scene_.library);
  std::ofstream(scene_.library) << "a library";
  EXPECT_TRUE(meet("exit 1").ok());
  std::ofstream(scene_.library) << "another library";
  EXPECT_FALSE(meet("exit 1").ok());
  EXPECT_EQ(scene_.calls(), 2U);
}

TEST_F(FirstContactTest, OtherSettingsAreAnotherContact) {
  ASSERT_TRUE(meet(kGoodAnswer).ok());
  ASSERT_TRUE(meet(kGoodAnswer, {{"speed", "fast"}}).ok());
  EXPECT_EQ(scene_.calls(), 2U);
}

TEST_F(FirstContactTest, TheUserCanRepeatIt) {
  ASSERT_TRUE(meet(kGoodAnswer).ok());
  EXPECT_THAT(meet("kill -SEGV $$", {}, true).status().to_string(), HasSubstr("crashed with signal 11"));
  EXPECT_THAT(meet(kGoodAnswer).status().to_string(), HasSubstr("crashed with signal 11"));
  EXPECT_TRUE(meet(kGoodAnswer, {}, true).ok());
}

TEST_F(FirstContactTest, ACrashIsRememberedForAnHour) {
  const auto crashed = meet("kill -SEGV $$");
  EXPECT_EQ(crashed.status().code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(crashed.status().to_string(), HasSubstr("crashed with signal 11"));
  scene_.age(3500);
  const auto again = meet(kGoodAnswer);
  EXPECT_THAT(again.status().to_string(), HasSubstr("(58 minutes ago; it is tried again"));
  EXPECT_THAT(again.status().to_string(), HasSubstr("`latebind backends --retry`"));
  EXPECT_EQ(scene_.calls(), 1U);
  scene_.age(200);
  EXPECT_TRUE(meet(kGoodAnswer).ok());
}

TEST_F(FirstContactTest, AHangIsRememberedSoThatOneStartAloneWaitsForIt) {
  scene_.answer("sleep 600");
  const std::string library = scene_.library.string();
  const auto hung = first_contact(scene_.options(std::chrono::milliseconds(200)), library, "toy", {});
  EXPECT_THAT(hung.status().to_string(), HasSubstr("did not end in time"));
  EXPECT_THAT(meet(kGoodAnswer).status().to_string(), HasSubstr("did not end in time"));
  EXPECT_EQ(scene_.calls(), 1U);
}

TEST_F(FirstContactTest, ASignalFromOutsideIsNotRemembered) {
  EXPECT_THAT(meet("kill -KILL $$").status().to_string(), HasSubstr("was ended by signal"));
  EXPECT_TRUE(meet(kGoodAnswer).ok());
}

TEST_F(FirstContactTest, AnEndWithoutAnAnswerIsAFailureWithTheFirstLineOfTheErrors) {
  const auto silent = meet("echo out; echo first >&2; echo second >&2; exit 3");
  EXPECT_EQ(silent.status().code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(silent.status().to_string(), HasSubstr("ended with exit status 3 without an answer: first"));
  EXPECT_EQ(meet("echo 'latebind-child-says: {\"code\":0}'; exit 3", {}, true).status().code(),
            StatusCode::kDeviceFailed);
}

TEST_F(FirstContactTest, WhatTheChildSaysOfALibraryIsTheError) {
  const std::string answer =
      R"(echo 'latebind-child-says: {"code":201,"message":"it exports nothing","vendor_text":""}')";
  const auto refused = meet(answer);
  EXPECT_EQ(refused.status().code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("it exports nothing (it is tried again"));
  EXPECT_FALSE(meet(kGoodAnswer).ok());
}

TEST_F(FirstContactTest, AMissingDriverIsAnAnswerThatIsRememberedAsHarmless) {
  const std::string answer =
      R"(echo 'latebind-child-says: {"code":0,"report":{"name":"toy","code":200,"reason":"no driver","devices":[]}}')";
  for (int i = 0; i < 2; ++i) {
    const auto report = meet(answer);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(report->availability.code(), StatusCode::kLibraryNotFound);
    EXPECT_EQ(report->availability.message(), "no driver");
    EXPECT_FALSE(report->covers({}));
  }
  EXPECT_EQ(scene_.calls(), 1U);
}

TEST_F(FirstContactTest, DevicesThatWereSeenBeforeStayKnown) {
  ASSERT_TRUE(meet(kGoodAnswer).ok());
  const std::string answer =
      R"(echo 'latebind-child-says: {"code":0,"report":{"name":"toy","version":"1.2","devices":[["NPU","7"]]}}')";
  ASSERT_TRUE(meet(answer, {}, true).ok());
  const auto report = meet("exit 1");
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  const auto device = [](const char* name, const char* version) {
    core::Device made;
    made.name = name;
    made.runtime_version = version;
    return made;
  };
  EXPECT_TRUE(report->covers({device("CPU", "1.0"), device("NPU", "7")}));
  EXPECT_FALSE(report->covers({device("CPU", "1.1")}));
}

TEST_F(FirstContactTest, WithoutAProgramNothingIsOpenedAndNothingRemembered) {
  auto options = scene_.options();
  options.program = "/nonexistent/latebind";
  const auto status = first_contact(options, scene_.library.string(), "toy", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(scene_.remembered(), "");
}

TEST_F(FirstContactTest, AMissingLibraryIsNamed) {
  const auto status = first_contact(scene_.options(), "/nonexistent/libtoy.so", "toy", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.to_string(), HasSubstr("/nonexistent/libtoy.so"));
}

}  // namespace
}  // namespace latebind::plugin
