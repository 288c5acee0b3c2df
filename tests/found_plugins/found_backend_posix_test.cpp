// When a found plug-in is opened, and by whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/plugin/found/found_backend.h"
#include "core/backend/questions.h"
#include "tests/found_plugins/contact_scene.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using test::kGoodAnswer;
using testing::HasSubstr;

// What the backend below does.
struct Script {
  std::string name = "toy";
  std::string runtime_version = "1.0";  // of its device
  Status availability{};
  int opened = 0;
  PluginSettings settings{};
};
Script* script = nullptr;

class ScriptedBackend final : public core::Backend, public core::DeviceAdvice {
 public:
  [[nodiscard]] std::string_view name() const override { return script->name; }
  [[nodiscard]] Status available() override { return script->availability; }
  [[nodiscard]] Result<std::string> runtime_version() override { return std::string("1.2"); }
  [[nodiscard]] Result<std::vector<core::Device>> devices() override {
    core::Device device;
    device.backend = "toy";
    device.name = "CPU";
    device.runtime_version = script->runtime_version;
    return std::vector{device};
  }
  [[nodiscard]] Result<std::unique_ptr<core::Executable>> load(const core::Model& /*model*/,
                                                               std::string_view /*device*/,
                                                               const core::CompileOptions& /*options*/) override {
    return Status(StatusCode::kUnsupported, "it loads nothing");
  }
  [[nodiscard]] core::BackendDiagnosis diagnosis(const Result<std::vector<core::Device>>* /*devices*/) override {
    return {.search = {{"driver", "itself", "found", true}}};
  }
  [[nodiscard]] core::Capabilities capabilities() override { return {.device_advice = this}; }
  [[nodiscard]] std::string why_not(std::string_view /*device*/) override { return "plug it in"; }
};

Result<OpenedPlugin> open_scripted(const std::string& /*library*/, const std::string& digest,
                                   const PluginSettings& settings) {
  EXPECT_EQ(digest.size(), 64U);
  ++script->opened;
  script->settings = settings;
  return OpenedPlugin{std::make_shared<ScriptedBackend>(), {}};
}

class FoundBackendTest : public testing::Test {
 protected:
  FoundBackendTest() {
    script = &script_;
    scene_.answer(kGoodAnswer);
  }
  ~FoundBackendTest() override { script = nullptr; }

  std::shared_ptr<core::Backend> make(std::chrono::milliseconds refusal_time = std::chrono::hours(1)) {
    PluginEntry entry{.file = "/etc/latebind/backends/toy.json", .source = "system"};
    entry.manifest.name = "toy";
    entry.library = scene_.library.string();
    return make_found_backend(std::move(entry), open_scripted,
                              {.settings = {{"speed", "1"}}, .trial = scene_.options(), .refusal_time = refusal_time});
  }

  Script script_;
  const test::ContactScene scene_;
};

TEST_F(FoundBackendTest, NothingIsOpenedBeforeTheFirstQuestion) {
  const auto backend = make();
  EXPECT_EQ(backend->name(), "toy");
  EXPECT_EQ(scene_.calls(), 0U);
  EXPECT_EQ(script_.opened, 0);
  EXPECT_TRUE(backend->available().ok());
  EXPECT_EQ(scene_.calls(), 1U);
  EXPECT_EQ(script_.opened, 1);
  EXPECT_EQ(script_.settings.at("speed"), "1");
}

TEST_F(FoundBackendTest, AnotherProcessNeedsNoChild) {
  EXPECT_TRUE(make()->available().ok());
  EXPECT_TRUE(make()->devices().ok());
  EXPECT_EQ(scene_.calls(), 1U);
  EXPECT_EQ(script_.opened, 2);
}

TEST_F(FoundBackendTest, WhatCrashesInTheChildIsNeverOpenedHere) {
  scene_.answer("kill -SEGV $$");
  const auto backend = make();
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(backend->available().to_string(), HasSubstr("crashed with signal 11"));
  EXPECT_FALSE(backend->devices().ok());
  EXPECT_EQ(script_.opened, 0);
  EXPECT_EQ(scene_.calls(), 1U);
  const auto diagnosis = backend->diagnosis(nullptr);
  ASSERT_EQ(diagnosis.search.size(), 1U);
  EXPECT_EQ(diagnosis.search[0].place, "/etc/latebind/backends/toy.json");
  EXPECT_FALSE(diagnosis.search[0].opened);
  EXPECT_TRUE(diagnosis.library_is_expected);
}

TEST_F(FoundBackendTest, ARefusalEndsAfterItsTime) {
  scene_.answer("echo 'latebind-child-says: {\"code\":300,\"message\":\"busy\",\"vendor_text\":\"\"}'");
  const auto backend = make(std::chrono::milliseconds(0));
  EXPECT_EQ(backend->available().code(), StatusCode::kBusy);
  scene_.answer(kGoodAnswer);
  EXPECT_TRUE(backend->available().ok());
}

TEST_F(FoundBackendTest, ANewerDriverIsMetByAChildFirst) {
  ASSERT_TRUE(make()->devices().ok());
  script_.runtime_version = "1.1";
  const auto backend = make();
  ASSERT_TRUE(backend->devices().ok());
  EXPECT_EQ(scene_.calls(), 2U);
  // What the child does not see is no reason to ask again and again.
  ASSERT_TRUE(backend->devices().ok());
  EXPECT_EQ(scene_.calls(), 2U);
  script_.runtime_version = "1.2";
  scene_.answer("kill -SEGV $$");
  EXPECT_THAT(backend->devices().status().to_string(), HasSubstr("crashed with signal 11"));
  EXPECT_THAT(backend->available().to_string(), HasSubstr("crashed with signal 11"));
}

TEST_F(FoundBackendTest, ADriverThatAppearsLaterIsMetByAChildFirst) {
  scene_.answer(
      R"(echo 'latebind-child-says: {"code":0,"report":{"name":"toy","code":200,"reason":"no driver","devices":[]}}')");
  script_.availability = Status(StatusCode::kLibraryNotFound, "no driver");
  const auto backend = make();
  EXPECT_EQ(backend->available().code(), StatusCode::kLibraryNotFound);
  EXPECT_EQ(script_.opened, 1);
  script_.availability = {};
  scene_.answer("kill -SEGV $$");
  EXPECT_THAT(backend->available().to_string(), HasSubstr("crashed with signal 11"));
}

TEST_F(FoundBackendTest, ALibraryThatIsNotWhatItsManifestSaysIsRefused) {
  script_.name = "other";
  const auto status = make()->available();
  EXPECT_EQ(status.code(), StatusCode::kLibraryUnusable);
  EXPECT_THAT(status.to_string(), HasSubstr("is the plug-in 'other', and its manifest says 'toy'"));
}

TEST_F(FoundBackendTest, AManifestThatCannotBeUsedIsItsReason) {
  PluginEntry entry{.file = "/toy.json", .source = "system"};
  entry.manifest.name = "toy";
  entry.why_not = "it is for another system";
  const auto backend = make_found_backend(std::move(entry), open_scripted, {});
  EXPECT_THAT(backend->available().to_string(), HasSubstr("/toy.json cannot be used: it is for another system"));
  EXPECT_EQ(backend->diagnosis(nullptr).search.size(), 1U);
}

TEST_F(FoundBackendTest, ItHasTheCapabilitiesOfThePlugin) {
  const auto backend = make();
  EXPECT_EQ(core::why_not(*backend, "NPU"), "plug it in");
  EXPECT_EQ(backend->capabilities().blobs, nullptr);
  const auto diagnosis = backend->diagnosis(nullptr);
  ASSERT_EQ(diagnosis.search.size(), 2U);
  EXPECT_THAT(diagnosis.search[0].outcome, HasSubstr("opened"));
  EXPECT_EQ(diagnosis.search[1].place, "driver");
}

}  // namespace
}  // namespace latebind::plugin
