// Runs and loads that are cancelled, or take too long, through the C interface. On the fake OpenVINO library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using ::testing::HasSubstr;

constexpr const char* kModel = "<net/>\nfake-model\ninput x f32 4\noutput y plus-one 0\n";

class CancellationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = latebind::Runtime::create(latebind::test::with_openvino(fake.file()));
    ASSERT_TRUE(made.ok());
    runtime.emplace(*std::move(made));
    std::ofstream(file, std::ios::binary) << kModel;
    std::ofstream(weights) << "none";
  }
  void TearDown() override {
    // What was given up is on its way back.
    fake.script("");
    runtime.reset();
    while (fake.alive() != 0)
      std::this_thread::yield();
  }

  static latebind::Status run(latebind::Model& model, const latebind::Cancellation* cancellation) {
    const std::array<float, 4> values{1, 2, 3, 4};
    const lb_tensor input = latebind::tensor_of(values.data(), {4});
    const auto output = latebind::Output::create();
    lb_output* const raw = output->get();
    return model.run({&input, 1}, {&raw, 1}, {.cancellation = cancellation});
  }

  latebind::test::FakeOpenvino fake;
  std::optional<latebind::Runtime> runtime;
  const std::filesystem::path folder = fake.folder();  // of this test alone
  const std::string file = (folder / "latebind-cancellation-test.xml").string();
  const std::filesystem::path weights = folder / "latebind-cancellation-test.bin";
};

TEST_F(CancellationTest, EndsARunThatHangsAndEveryLaterOne) {
  auto model = runtime->load(file);
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto cancellation = latebind::Cancellation::create();
  ASSERT_TRUE(cancellation.ok());
  EXPECT_TRUE(run(*model, &*cancellation).ok());
  fake.script("hang\n");
  const long before = fake.calls("run");
  std::thread running([&] { EXPECT_EQ(run(*model, &*cancellation).code(), LB_CANCELLED); });
  while (fake.calls("run") == before)
    std::this_thread::yield();
  cancellation->request();
  running.join();
  EXPECT_EQ(run(*model, &*cancellation).code(), LB_CANCELLED);
  fake.script("");
  EXPECT_TRUE(run(*model, nullptr).ok());
}

TEST_F(CancellationTest, EndsALoad) {
  fake.script("slow ov_core_compile_model 300\n");
  const auto cancellation = latebind::Cancellation::create();
  ASSERT_TRUE(cancellation.ok());
  cancellation->request();
  EXPECT_EQ(runtime->load(file, {}, {.cancellation = &*cancellation}).status().code(), LB_CANCELLED);
}

// On a new thread: nothing that it makes for itself may wait for the loader, either, which is busy.
TEST_F(CancellationTest, EndsALoadWhileTheVendorsLibraryIsOpened) {
  constexpr auto kOpening = std::chrono::seconds(3);
  fake.script("slow load 3000\n");
  const auto cancellation = latebind::Cancellation::create();
  ASSERT_TRUE(cancellation.ok());
  std::chrono::steady_clock::time_point over;
  std::thread loading([&] {
    EXPECT_EQ(runtime->load(file, {}, {.cancellation = &*cancellation}).status().code(), LB_CANCELLED);
    // Here and not behind join(): where a thread's end waits for the loader, as on Windows, that is not the load's.
    over = std::chrono::steady_clock::now();
  });
  while (!fake.opening())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto requested = std::chrono::steady_clock::now();
  cancellation->request();
  loading.join();
  EXPECT_LT(over - requested, kOpening / 2);
}

TEST_F(CancellationTest, ALoadThatTakesLongerThanItMayIsGivenUp) {
  fake.script("slow ov_core_compile_model 3000\n");
  const auto began = std::chrono::steady_clock::now();
  const auto model = runtime->load(file, {}, {.timeout = std::chrono::milliseconds(300)});
  EXPECT_EQ(model.status().code(), LB_DEADLINE_EXCEEDED) << model.status().message();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(3));
  // What should have been over is not endless.
  const auto late = runtime->load(file, {}, {.timeout = std::chrono::milliseconds(-5)});
  EXPECT_EQ(late.status().code(), LB_DEADLINE_EXCEEDED) << late.status().message();
}

TEST_F(CancellationTest, ADeviceThatTakesTooLongToLoadIsPassedOver) {
  fake.script("device GPU\ndevice CPU\non GPU slow ov_core_compile_model 2500\n");
  // Of the CPU, too, on a machine that is busy or emulated.
  auto model = runtime->load(file, {{"device", "gpu,cpu"}, {"failover.load_timeout_ms", "500"}});
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto attestation = model->attestation();
  ASSERT_TRUE(attestation.ok());
  EXPECT_EQ(attestation->device, "CPU");
  EXPECT_THAT(attestation->reason, HasSubstr("did not finish loading"));
}

TEST_F(CancellationTest, NothingIsDoneWithNothing) {
  EXPECT_EQ(lb_cancellation_create(nullptr), LB_INVALID_ARGUMENT);
  lb_cancellation_request(nullptr);
  lb_cancellation_destroy(nullptr);
}

}  // namespace
