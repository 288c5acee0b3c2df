// One program for several devices: written by the program `latebind` with a variant for Qualcomm's NPU, run on the CPU
// here, and on that NPU in its vendor's emulation when that is asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "tests/hosts/executorch/real/minilm.h"
#include "tests/support/onnx_builder.h"

namespace latebind::test {
namespace {

using core::ElementType;
using ::testing::FloatNear;
using ::testing::Pointwise;

std::string provider_file() {
  std::error_code ignored;
  for (const auto& one : std::filesystem::recursive_directory_iterator(kSource / "build/runtime/providers", ignored)) {
    if (one.path().filename() == "libonnxruntime_providers_qnn.so") return one.path().string();
  }
  ADD_FAILURE() << "no provider of Qualcomm's below build/runtime/providers: run scripts/setup test";
  return {};
}

class OneProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("LATEBIND_OPENVINO_LIBRARY", openvino_file().c_str(), 1);
    setenv("LATEBIND_ONNXRUNTIME_LIBRARY", onnxruntime_file().c_str(), 1);
    setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", provider_file().c_str(), 1);
    setenv("LATEBIND_TRIAL_PROGRAM", LATEBIND_PROGRAM, 1);
    ASSERT_NE(load_delegate(), nullptr);
    const OnnxDims dims{std::int64_t{2}, std::int64_t{4}};
    const auto onnx = folder.path() / "model.onnx";
    std::ofstream(onnx, std::ios::binary) << OnnxBuilder()
                                                 .input("x", ElementType::kF32, dims)
                                                 .output("y", ElementType::kF32, dims)
                                                 .node("Add", {"x", "x"}, {"y"})
                                                 .bytes();
    program = (folder.path() / "model.pte").string();
    std::ostringstream command;
    command << "'" << LATEBIND_PROGRAM << "' compile '" << onnx.string()
            << "' --format pte --target cpu,npu:v73 --quiet -o '" << program << "'";
    ASSERT_EQ(std::system(command.str().c_str()), 0) << command.str();  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  }

  void expect_doubled(const std::string& config, const std::string& device) {
    et::BackendOptions<1> options;
    ASSERT_EQ(options.set_option("config", config.c_str()), et::Error::Ok);
    et::LoadBackendOptionsMap map;
    if (!config.empty()) {
      ASSERT_EQ(map.set_options("LatebindBackend", options.view()), et::Error::Ok);
    }
    Module module(program, Module::LoadMode::Mmap);
    ASSERT_EQ(module.load(map), et::Error::Ok);
    ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
    EXPECT_EQ(option_of("active_device"), device);
    HostTensor x(ScalarType::Float, {2, 4});
    x.fill<float>({1, 2, 3, 4, 5, 6, 7, 8});
    const auto outputs = module.forward({x.value()});
    ASSERT_TRUE(outputs.ok()) << said();
    // In f16 an emulated sum is not quite even.
    EXPECT_THAT(floats((*outputs)[0]), Pointwise(FloatNear(0.01F), std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16}));
  }

  ProgramFolder folder;
  std::string program;
};

TEST_F(OneProgramTest, RunsOnTheProcessorHereAndOnQualcommsNpuInEmulationWhenAsked) {
  expect_doubled("", "openvino:CPU");
  const std::string config = (folder.path() / "config.toml").string();
  std::ofstream(config)
      << "device = \"onnxruntime:QNN.v73\"\nprecision = \"f16\"\nemulate = true\n[cache]\nenabled = false\n";
  expect_doubled(config, "onnxruntime:QNN.v73");
}

}  // namespace
}  // namespace latebind::test
