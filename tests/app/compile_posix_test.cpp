// What is compiled is put in the place of what was read, and of nothing else. On the fake OpenVINO library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "app/jobs/compile.h"
#include "core/bundle/package.h"
#include "tests/fakes/fake_openvino_library.h"

namespace latebind::app {
namespace {

namespace fs = std::filesystem;
using core::StatusCode;
using ::testing::HasSubstr;

class CompileInPlaceTest : public ::testing::TestWithParam<CompileFormat> {
 protected:
  void SetUp() override {
    std::ofstream(fake.folder() / "model.xml") << "<net/>\nfake-model\ninput x f32 4\noutput y plus-one 0\n";
    std::ofstream(fake.folder() / "model.bin") << "none";
    EffectiveSettings settings;
    ASSERT_TRUE(settings.set("openvino.library", fake.file().string(), "the test").ok());
    ASSERT_TRUE(settings.set("onnxruntime.library", "/nonexistent", "the test").ok());
    auto made = Runtime::make(settings, {});
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    runtime.emplace(*std::move(made));
  }
  CompileReport written(const fs::path& place, const std::string& name, const CompileWatch& watch = nullptr,
                        bool add = false) {
    CompileOptions options;
    options.model = (add ? place : fake.folder() / "model.xml").string();
    options.output = place.string();
    options.format = GetParam();
    options.name = name;
    options.add = add;
    if (add) options.targets = {"openvino:CPU"};
    return compile(options, *runtime, {}, watch);
  }
  static std::string name_of(const fs::path& place) {
    const auto package = core::Package::open(place);
    return package.ok() ? package->manifest().package_name : package.status().to_string();
  }

  test::FakeOpenvino fake;
  std::optional<Runtime> runtime;
};

// By a program that knows nothing of the lock, when all is compiled and nothing is written yet.
TEST_P(CompileInPlaceTest, ABundleThatIsNotTheOneThatWasReadIsLeftAlone) {
  const fs::path place = fake.folder() / "bundle";
  const fs::path other = fake.folder() / "other";
  ASSERT_TRUE(written(place, "one").written);
  ASSERT_TRUE(written(other, "another").written);
  const CompileReport report = written(
      place, "one with more",
      [&](const CompileStep& step) {
        if (step.outcome == nullptr) return;
        fs::remove_all(place);
        fs::rename(other, place);
      },
      true);
  EXPECT_FALSE(report.written);
  EXPECT_EQ(report.failure.code(), StatusCode::kBusy);
  EXPECT_THAT(report.failure.message(), HasSubstr("another program changed it after it was read"));
  EXPECT_EQ(name_of(place), "another");
  // What is there now can be added to.
  EXPECT_TRUE(written(place, "another with more", nullptr, true).written);
  EXPECT_EQ(name_of(place), "another with more");
  for (const auto& entry : fs::directory_iterator(fake.folder()))
    EXPECT_NE(entry.path().filename().string().substr(0, 10), ".latebind-") << entry.path();
}

INSTANTIATE_TEST_SUITE_P(BothForms, CompileInPlaceTest,
                         ::testing::Values(CompileFormat::kBundle, CompileFormat::kFolder));

}  // namespace
}  // namespace latebind::app
