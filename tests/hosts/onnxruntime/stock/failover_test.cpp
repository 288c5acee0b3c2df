// A device that dies while a session runs on it, and comes back: a fake OpenVINO, whose models come as compiled ones.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "core/bundle/package_writer.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/hosts/onnxruntime/stock/scene.h"

namespace latebind::test {
namespace {

constexpr const char* kBoth = "device NPU\ndevice CPU\n";

// y = x + 1 for rows of two, as a bundle with the portable model alone.
std::string bundle() {
  core::LatebindInfo portable;
  portable.target = core::kPortableTarget;
  portable.format = "openvino-ir";
  portable.model = "model.xml";
  portable.precision = "f32";
  core::PackageWriter writer({.name = "toy", .version = "1"});
  const std::string network = "<net/>\nfake-model\ninput x f32 2,2\noutput y plus-one 0\n";
  EXPECT_TRUE(
      writer
          .add_variant("model", {.name = "portable",
                                 .latebind = portable,
                                 .files = {{"model.xml", core::SharedBytes::from_string(network)},
                                           {"model.bin", core::SharedBytes::from_string(std::string(4, '\0'))}}})
          .ok());
  const auto folder = platform::TemporaryFolder::create("test");
  EXPECT_TRUE(folder.ok());
  const auto file = folder->path() / "toy.lbundle";
  EXPECT_TRUE(writer.write(file, core::PackageForm::kZip).ok());
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class OnnxruntimeFailoverTest : public StockHostTest {
 protected:
  void SetUp() override {
    fake_.script(kBoth);
    StockHostTest::SetUp();
    const Texts provider{{"device", "openvino:NPU,openvino:CPU"},
                         {"precision", "f16,f32"},
                         {"failover.backoff_first_ms", "10"},
                         {"failover.backoff_most_ms", "20"}};
    ASSERT_EQ(session_of(context_model(bundle(), true), &session_, provider), "");
  }
  void TearDown() override {
    if (session_ != nullptr) api().ReleaseSession(session_);
    StockHostTest::TearDown();
  }

  // "" when it answered, and rightly.
  [[nodiscard]] std::string run() const { return StockHostTest::run(session_); }
  [[nodiscard]] static bool answers(const char* device) {
    return attestations().find(std::string("\"device\":\"") + device + "\",\"full_name\"") != std::string::npos;
  }

  OrtSession* session_ = nullptr;
};

TEST_F(OnnxruntimeFailoverTest, TheNextDeviceAnswersInTheSameRunAndTheFirstComesBack) {
  EXPECT_EQ(run(), "");
  EXPECT_TRUE(answers("openvino:NPU")) << attestations();
  EXPECT_NE(attestations().find("\"fallback\":false"), std::string::npos) << attestations();
  fake_.script(std::string(kBoth) + "on NPU fail run * -1 the driver died\n");
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(run(), "");
  EXPECT_TRUE(answers("openvino:CPU")) << attestations();
  EXPECT_NE(attestations().find("\"fallback\":true"), std::string::npos) << attestations();
  EXPECT_NE(attestations().find("the driver died"), std::string::npos) << attestations();
  fake_.script(kBoth);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!answers("openvino:NPU") && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_TRUE(answers("openvino:NPU")) << attestations();
  EXPECT_EQ(run(), "");
}

TEST_F(OnnxruntimeFailoverTest, WhereEveryDeviceDiesTheRunIsAnErrorAndTheSessionRecovers) {
  fake_.script(std::string(kBoth) + "fail run * -1 the driver died\n");
  const std::string error = run();
  EXPECT_NE(error.find("the driver died"), std::string::npos) << error;
  fake_.script(kBoth);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::string last = run();
  while (!last.empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    last = run();
  }
  EXPECT_EQ(last, "");
}

}  // namespace
}  // namespace latebind::test
