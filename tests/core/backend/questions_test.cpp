// What is answered for a backend that has none of the capabilities, and what one that has them is asked.
#include "core/backend/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What every backend has, and no more.
class PlainBackend : public Backend {
 public:
  std::string_view name() const override { return "plain"; }
  Status available() override { return {}; }
  Result<std::string> runtime_version() override { return std::string("1"); }
  Result<std::vector<Device>> devices() override { return std::vector<Device>{}; }
  Result<std::unique_ptr<Executable>> load(const Model&, std::string_view, const CompileOptions&) override {
    return Status(StatusCode::kUnsupported, "nothing");
  }
  BackendDiagnosis diagnosis(const Result<std::vector<Device>>*) override {
    return {.unavailable = {{"PART", "it is broken"}}};
  }
};

class WithAReason final : public PlainBackend {
 public:
  Capabilities capabilities() override { return {.no_blobs_because = "it packs the weights itself"}; }
};

const Model& model() {
  static const Model model = Model::from_forms("a model", {ModelForm{.graph = SharedBytes::from_string("a graph")}});
  return model;
}

TEST(QuestionsTest, ABackendWithoutCapabilitiesHasAnAnswerToEach) {
  PlainBackend backend;
  LeftNodes left{.count = 3};
  const auto compiled = compile_blob(backend, model(), "CPU", {}, &left);
  EXPECT_EQ(compiled.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(compiled.status().to_string(), HasSubstr("plain has nothing to compile"));
  EXPECT_EQ(left.count, 0U);
  EXPECT_EQ(check_blob(backend, {}, "CPU", {}).code(), StatusCode::kIncompatibleBlob);
  EXPECT_EQ(load_blob(backend, {}, "CPU", {}).status().code(), StatusCode::kIncompatibleBlob);
  EXPECT_THAT(*virtual_devices_of(backend), IsEmpty());
  EXPECT_EQ(*known_errors_of(backend), "");
  EXPECT_EQ(why_not(backend, "CPU"), "");
  EXPECT_EQ(why_not(backend, "PART"), "it is broken");
}

TEST(QuestionsTest, AReasonForHavingNoBlobsIsSaid) {
  WithAReason backend;
  EXPECT_EQ(compile_blob(backend, model(), "CPU", {}).status().message(), "it packs the weights itself");
}

TEST(QuestionsTest, ABackendWithCapabilitiesIsAsked) {
  test::ScriptedBackend backend("scripted");
  backend.blobs = true;
  backend.left_nodes = {{"CPU", {.count = 2}}};
  backend.absent = {Device{"scripted", "NPU.v1", DeviceKind::kNpu, "an NPU", "1.0"}};
  backend.errors = "a table";
  backend.reasons = {{"GPU", "buy one"}};
  LeftNodes left;
  const auto blob = compile_blob(backend, model(), "CPU", {}, &left);
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  EXPECT_EQ(left.count, 2U);
  EXPECT_TRUE(check_blob(backend, *blob, "CPU", {}).ok());
  EXPECT_TRUE(load_blob(backend, *blob, "CPU", {}).ok());
  BlobLabel old = *blob;
  old.runtime_version = "0.9";
  EXPECT_EQ(check_blob(backend, old, "CPU", {}).code(), StatusCode::kIncompatibleBlob);
  EXPECT_EQ(virtual_devices_of(backend)->size(), 1U);
  EXPECT_EQ(*known_errors_of(backend), "a table");
  EXPECT_EQ(why_not(backend, "GPU"), "buy one");
}

}  // namespace
}  // namespace latebind::core
