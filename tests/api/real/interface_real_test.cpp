#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "latebind/latebind.hpp"
#include "tests/support/onnx_builder.h"

namespace {

using ::testing::ElementsAre;

const std::filesystem::path kSource = LATEBIND_SOURCE_DIR;

TEST(InterfaceRealTest, StaticLengthsAndTheCacheAreOptionsOfTheInterface) {
  const auto runtime = latebind::Runtime::create();
  ASSERT_TRUE(runtime.ok()) << runtime.status().message();
  const auto folder = std::filesystem::path(testing::TempDir()) / "latebind-interface-cache";
  std::filesystem::remove_all(folder);
  latebind::Options options{{"device", "cpu"}};
  bool is_fixed = false;
  const auto embed = [&]() -> std::vector<float> {
    const auto embedder = runtime->open_embedder((kSource / "tests/data/tiny-bert/f32").string(), options);
    EXPECT_TRUE(embedder.ok()) << embedder.status().message();
    if (!embedder) return {};
    const std::vector<std::string_view> texts{"a man", "the cat sat on the mat"};
    const auto vectors = embedder->embed(texts);
    EXPECT_TRUE(vectors.ok()) << vectors.status().message();
    const auto attestation = embedder->attestation();
    EXPECT_TRUE(attestation.ok());
    if (is_fixed && attestation) {
      EXPECT_THAT(attestation->static_lengths, ElementsAre(8, 20));  // cut at the model's limit
      EXPECT_EQ(attestation->static_rows, 2U);
    }
    return vectors ? *vectors : std::vector<float>{};
  };
  const auto dynamic = embed();
  options.set("embedding.shapes", "static").set("embedding.static_lengths", "8").set("embedding.static_batch", "2");
  options.set("cache.folder", folder.string());
  is_fixed = true;
  const auto fixed = embed();
  const auto again = embed();
  ASSERT_EQ(fixed.size(), dynamic.size());
  for (std::size_t i = 0; i < fixed.size(); ++i)
    EXPECT_NEAR(fixed[i], dynamic[i], 1e-5);
  EXPECT_EQ(again, fixed);
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(InterfaceRealTest, AnOnnxModelInMemoryHasItsDataInNamedPiecesOfMemory) {
  using latebind::core::ElementType;
  latebind::test::OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {"n", 3})
      .output("y", ElementType::kF32, {"n", 3})
      .external_constant("w", ElementType::kF32, {3}, "data/weights.bin", 4, 12)
      .node("Add", {"x", "w"}, {"y"});
  const std::string onnx = builder.bytes();
  const std::array<float, 5> weights{-1, 10, 20, 30, -1};
  const lb_external_data in_memory{"data/weights.bin", weights.data(), sizeof weights};
  const lb_external_data in_a_file{"data/weights.bin", nullptr, 0};
  const std::string name = ::testing::TempDir() + "data_in_named_pieces.bin";
  std::ofstream(name, std::ios::binary).write(reinterpret_cast<const char*>(weights.data()), sizeof weights);
  const char* const files = name.c_str();
  lb_runtime* runtime = nullptr;
  ASSERT_EQ(lb_runtime_create(nullptr, &runtime), LB_OK);
  for (const auto& [device, external] :
       {std::pair("onnxruntime:CPU", &in_memory), std::pair("openvino:CPU", &in_memory),
        std::pair("onnxruntime:CPU", &in_a_file), std::pair("openvino:CPU", &in_a_file)}) {
    int released = 0;
    auto memory = LB_INIT(lb_model_memory);
    memory.format = LB_FORMAT_ONNX;
    memory.graph = onnx.data();
    memory.graph_size = onnx.size();
    memory.external = external;
    memory.external_count = 1;
    if (external == &in_a_file) memory.external_files = &files;
    memory.context = &released;
    memory.release = [](void* context) { ++*static_cast<int*>(context); };
    lb_model* model = nullptr;
    const latebind::Options options{{"device", device}};
    ASSERT_EQ(lb_model_load_memory(runtime, &memory, options.get(), nullptr, &model), LB_OK) << device;
    const std::array<float, 3> x{1, 2, 3};
    const lb_tensor input = latebind::tensor_of(x.data(), {1, 3});
    const auto output = latebind::Output::create();
    lb_output* raw = output->get();
    ASSERT_EQ(lb_model_run(model, &input, 1, &raw, 1, nullptr), LB_OK);
    const auto* y = static_cast<const float*>(output->tensor().data);
    EXPECT_THAT(std::vector<float>(y, y + 3), ElementsAre(11, 22, 33));
    lb_model_destroy(model);
    EXPECT_EQ(released, 1) << device;
  }
  std::filesystem::remove(name);
  lb_runtime_destroy(runtime);
}

#ifdef LATEBIND_PROGRAM
// Qualcomm's provider, where scripts/setup puts it.
std::string qualcomm() {
  const auto folder = kSource / "build/runtime/providers";
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().filename().string().starts_with("onnxruntime-qnn-")) {
      return (entry.path() / "onnxruntime_qnn").string();
    }
  }
  ADD_FAILURE() << "no onnxruntime-qnn-* in " << folder << ": run scripts/setup runtime test";
  return {};
}

TEST(InterfaceRealTest, AVirtualDeviceRunsInEmulationWhenThatIsAllowed) {
  const auto runtime =
      latebind::Runtime::create({{"onnxruntime.providers", qualcomm()}, {"backends.trial_program", LATEBIND_PROGRAM}});
  ASSERT_TRUE(runtime.ok()) << runtime.status().message();
  const auto devices = runtime->devices(true);
  ASSERT_TRUE(devices.ok()) << devices.status().message();
  const auto v73 = std::ranges::find(devices->devices, "onnxruntime:QNN.v73", &latebind::Device::id);
  ASSERT_NE(v73, devices->devices.end());
  EXPECT_TRUE(v73->is_virtual);
  ASSERT_EQ(v73->metadata.at("CompilerInstalled"), "1");

  latebind::Options options{
      {"device", v73->id}, {"precision", "f16"}, {"embedding.shapes", "static"}, {"embedding.static_lengths", "8"}};
  const auto folder = (kSource / "tests/data/tiny-bert/f32").string();
  const auto refused = runtime->open_embedder(folder, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), LB_NO_DEVICE);

  options.set("emulate", "true");
  const auto embedder = runtime->open_embedder(folder, options);
  ASSERT_TRUE(embedder.ok()) << embedder.status().message();
  const auto vector = embedder->embed("a man");
  ASSERT_TRUE(vector.ok()) << vector.status().message();
  const auto attestation = embedder->attestation();
  ASSERT_TRUE(attestation.ok());
  EXPECT_TRUE(attestation->emulated);
  EXPECT_EQ(attestation->device, "QNN.v73");

  const auto here = runtime->open_embedder(
      folder, {{"device", "cpu"}, {"embedding.shapes", "static"}, {"embedding.static_lengths", "8"}});
  ASSERT_TRUE(here.ok()) << here.status().message();
  EXPECT_FALSE(here->attestation()->emulated);
  const auto exact = here->embed("a man");
  ASSERT_TRUE(exact.ok());
  double cosine = 0;  // both are of length 1
  for (std::size_t i = 0; i < exact->size(); ++i)
    cosine += double{(*exact)[i]} * double{(*vector)[i]};
  EXPECT_GT(cosine, 0.999);
}
#endif

}  // namespace
