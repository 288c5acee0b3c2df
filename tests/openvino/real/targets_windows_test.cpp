// Intel's NPUs as targets of the real OpenVINO for Windows, whose Python package has the compiler for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

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
    ASSERT_TRUE(status.ok()) << "run scripts/setup platforms first: " << status.to_string();
    ASSERT_TRUE(registry_.add(backend_).ok());
  }

  std::shared_ptr<core::Backend> backend_ = make_backend();
  core::Registry registry_;
};

std::string text_of(const core::Blob& blob) {
  return {reinterpret_cast<const char*>(blob.bytes.bytes.data()), blob.bytes.bytes.size()};
}

TEST_F(RealNpuTargetTest, EachNpuGetsItsOwnBlobAndTheSameEachTime) {
  std::set<std::string> blobs;
  for (const std::string target : {"3720", "4000", "5010", "5020"}) {
    const auto compile = [&] {
      return core::compile_blob(*backend_, test::add_model(core::ElementType::kF32, {1, 4}), "NPU." + target,
                                {.precision = core::Precision::kF16});
    };
    const auto one = compile();
    ASSERT_TRUE(one.ok()) << target << ": " << one.status().to_string();
    EXPECT_THAT(text_of(*one), AllOf(testing::StartsWith("\x7f"
                                                         "ELF"),
                                     testing::EndsWith("OVNPU"), HasSubstr("npu=" + target)));
    const auto two = compile();
    ASSERT_TRUE(two.ok());
    EXPECT_TRUE(text_of(*one) == text_of(*two)) << target;
    blobs.insert(text_of(*one));
  }
  EXPECT_EQ(blobs.size(), 4U);
}

TEST_F(RealNpuTargetTest, ItsBlobsDoNotRunWhereThereIsNone) {
  const auto blob = core::compile_blob(*backend_, test::add_model(core::ElementType::kF32, {1, 4}), "NPU.4000",
                                       {.precision = core::Precision::kF16});
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  EXPECT_FALSE(core::load_blob(*backend_, *blob, "NPU", {}).ok());
}

TEST_F(RealNpuTargetTest, AnUnknownArchitectureIsRefusedWithTheKnownOnes) {
  const auto target = core::CompileTargets(registry_).find("npu:4001");
  EXPECT_EQ(target.status().code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(target.status().to_string(), AllOf(HasSubstr("npu:3720"), HasSubstr("npu:5020")));
}

}  // namespace
}  // namespace latebind::openvino
