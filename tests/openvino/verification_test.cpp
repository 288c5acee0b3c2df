// Devices of a vendor that compute wrongly, found when the model is loaded: the real engine and the real backend on a
// machine that the fake library plays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/openvino/machine.h"

namespace latebind::openvino {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class VerificationTest : public test::MachineTest {
 protected:
  void SetUp() override {
    MachineTest::SetUp();
    options_.verification.enabled = true;
  }
};

TEST_F(VerificationTest, AnNpuThatComputesWronglyFallsBehindTheGpu) {
  script("on NPU wrong-numbers\n");
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  ASSERT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.device(), "GPU");
  EXPECT_TRUE(answer.by->fallback);
  EXPECT_THAT(answer.by->reason, HasSubstr("openvino:NPU: it disagrees with openvino:CPU"));
  EXPECT_THAT(answer.by->verification, StartsWith("agrees with openvino:CPU"));
}

TEST_F(VerificationTest, OneThatIsRightStaysFirst) {
  ASSERT_TRUE(place().ok());
  const auto answer = ask();
  EXPECT_EQ(answer.device(), "NPU");
  EXPECT_THAT(answer.by->verification, StartsWith("agrees with openvino:CPU"));
}

TEST_F(VerificationTest, OneThatIsUsedLaterIsVerifiedThen) {
  script("on NPU wrong-numbers\non GPU fail run 10- -1 the driver died\n");
  ASSERT_TRUE(place().ok());
  EXPECT_EQ(placed_->attestation()->active.device, "GPU");
  for (int i = 0; i < 20; ++i) {
    const auto answer = ask(i);
    ASSERT_TRUE(answer.status.ok()) << answer.status.to_string();
    EXPECT_NE(answer.device(), "NPU");
  }
  EXPECT_EQ(ask().device(), "CPU");
}

}  // namespace
}  // namespace latebind::openvino
