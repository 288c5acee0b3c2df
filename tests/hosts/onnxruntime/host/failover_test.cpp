// A device that dies while a session runs on it, and comes back: a fake OpenVINO, whose models come as compiled ones.
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>

#include "core/bundle/package_writer.h"
#include "core/graph/protobuf.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/fakes/fake_openvino_library.h"
#include "tests/hosts/onnxruntime/host/fixture.h"

namespace latebind::test {
namespace {

constexpr const char* kBoth = "device NPU\ndevice CPU\n";

// y = x + 1 for two numbers, as a bundle with the portable model alone.
std::string bundle() {
  core::LatebindInfo portable;
  portable.target = core::kPortableTarget;
  portable.format = "openvino-ir";
  portable.model = "model.xml";
  portable.precision = "f32";
  core::PackageWriter writer({.name = "toy", .version = "1"});
  const std::string network = "<net/>\nfake-model\ninput x f32 2\noutput y plus-one 0\n";
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

// A model of the host with one EPContext node of Latebind's, from x to y.
std::string compiled_model() {
  using Message = graph::ProtobufMessage;
  const auto text = [](const char* name, std::string_view value) {
    Message attribute;
    attribute.add_bytes(1, name);
    attribute.add_bytes(4, value);
    attribute.add_int(20, 3);
    return attribute;
  };
  const auto number = [](const char* name, std::int64_t value) {
    Message attribute;
    attribute.add_bytes(1, name);
    attribute.add_int(3, value);
    attribute.add_int(20, 2);
    return attribute;
  };
  Message node;
  node.add_bytes(1, "x");
  node.add_bytes(2, "y");
  node.add_bytes(3, "toy");
  node.add_bytes(4, "EPContext");
  node.add_message(5, text("ep_cache_context", bundle()));
  node.add_message(5, text("source", "Latebind"));
  node.add_message(5, number("embed_mode", 1));
  node.add_message(5, number("main_context", 1));
  node.add_bytes(7, "com.microsoft");
  return OnnxBuilder()
      .input("x", core::ElementType::kF32, {std::int64_t{2}})
      .output("y", core::ElementType::kF32, {std::int64_t{2}})
      .node(node)
      .opset("com.microsoft", 1)
      .bytes();
}

class OnnxruntimeFailoverTest : public OnnxruntimeHostTest {
 protected:
  void SetUp() override {
    setenv("LATEBIND_OPENVINO_LIBRARY", fake_.file().c_str(), 1);
    fake_.script(kBoth);
    OnnxruntimeHostTest::SetUp();
    register_as("latebind");
    const Texts provider{{"device", "openvino:NPU,openvino:CPU"},
                         {"precision", "f16,f32"},
                         {"failover.backoff_first_ms", "10"},
                         {"failover.backoff_most_ms", "20"}};
    ASSERT_EQ(session_error(compiled_model(), devices(), provider, {}, &session_), "");
  }
  void TearDown() override {
    if (session_ != nullptr) api().ReleaseSession(session_);
    OnnxruntimeHostTest::TearDown();
    EXPECT_EQ(fake_.defects(), "");
  }

  // "" when it answered, and rightly.
  [[nodiscard]] std::string run() const {
    OrtMemoryInfo* memory = nullptr;
    EXPECT_EQ(text_of(api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory)), "");
    std::array<float, 2> x{1, 2};
    const std::int64_t shape = 2;
    OrtValue* input = nullptr;
    EXPECT_EQ(text_of(api().CreateTensorWithDataAsOrtValue(memory, x.data(), sizeof x, &shape, 1,
                                                           ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input)),
              "");
    OrtValue* output = nullptr;
    const char* in = "x";
    const char* out = "y";
    std::string error = text_of(api().Run(session_, nullptr, &in, &input, 1, &out, 1, &output));
    if (error.empty()) {
      void* data = nullptr;
      EXPECT_EQ(text_of(api().GetTensorMutableData(output, &data)), "");
      EXPECT_EQ(static_cast<const float*>(data)[0], 2);
      EXPECT_EQ(static_cast<const float*>(data)[1], 3);
      api().ReleaseValue(output);
    }
    api().ReleaseValue(input);
    api().ReleaseMemoryInfo(memory);
    return error;
  }
  [[nodiscard]] static bool answers(const char* device) {
    return attestations().find(std::string("\"device\": \"") + device + "\", \"full_name\"") != std::string::npos;
  }

  FakeOpenvino fake_;
  OrtSession* session_ = nullptr;
};

TEST_F(OnnxruntimeFailoverTest, TheNextDeviceAnswersInTheSameRunAndTheFirstComesBack) {
  EXPECT_EQ(run(), "");
  EXPECT_TRUE(answers("openvino:NPU")) << attestations();
  EXPECT_NE(attestations().find("\"fallback\": false"), std::string::npos) << attestations();
  fake_.script(std::string(kBoth) + "on NPU fail run * -1 the driver died\n");
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(run(), "");
  EXPECT_TRUE(answers("openvino:CPU")) << attestations();
  EXPECT_NE(attestations().find("\"fallback\": true"), std::string::npos) << attestations();
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
