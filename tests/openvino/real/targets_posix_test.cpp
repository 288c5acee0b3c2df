// Intel's NPUs as targets of the real OpenVINO, whose Python package for Linux has no compiler for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "backends/openvino/backend.h"
#include "core/backend/questions.h"
#include "core/backend/registry.h"
#include "core/bundle/compile.h"
#include "tests/openvino/small_ir.h"

namespace latebind::openvino {
namespace {

using core::StatusCode;
using testing::AllOf;
using testing::HasSubstr;

class RealNpuTargetTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto status = backend_->available();
    ASSERT_TRUE(status.ok()) << "run scripts/setup first: " << status.to_string();
    ASSERT_TRUE(registry_.add(backend_).ok());
    const auto targets = core::virtual_devices_of(*backend_);
    ASSERT_TRUE(targets.ok());
    for (const auto& device : *targets)
      installed_ = installed_ || device.facts().at("CompilerInstalled") == "1";
  }

  std::shared_ptr<core::Backend> backend_ = make_backend();
  core::Registry registry_;
  bool installed_ = false;
};

TEST_F(RealNpuTargetTest, WithoutItsCompilerTheErrorNamesTheLibraryAndWhereToGetIt) {
  ASSERT_FALSE(installed_) << "this OpenVINO has the NPU compiler; the Python package for Linux has not";
  const auto what = AllOf(HasSubstr("libopenvino_intel_npu_compiler_loader.so"), HasSubstr("archive for Linux"),
                          HasSubstr("driver package"));
  const auto target = core::CompileTargets(registry_).find("npu:4000");
  EXPECT_EQ(target.status().code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(target.status().to_string(), what);
  const auto blob = core::compile_blob(*backend_, test::add_model(core::ElementType::kF32, {1, 4}), "NPU.4000",
                                       {.precision = core::Precision::kF16});
  EXPECT_EQ(blob.status().code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(blob.status().to_string(), what);
}

TEST_F(RealNpuTargetTest, AnUnknownArchitectureIsRefusedWithTheKnownOnes) {
  const auto target = core::CompileTargets(registry_).find("npu:4001");
  EXPECT_EQ(target.status().code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(target.status().to_string(), AllOf(HasSubstr("npu:3720"), HasSubstr("npu:5020")));
}

}  // namespace
}  // namespace latebind::openvino
