// all-MiniLM-L6-v2 through ExecuTorch's Module, on both vendors' runtimes: the vectors of sentence-transformers.
#include "tests/hosts/executorch/real/minilm.h"

#include <gtest/gtest.h>

#include "core/platform/system_info.h"
#include "tests/support/vectors.h"

namespace latebind::test {
namespace {

class MiniLmTest : public ::testing::Test {
 protected:
  // As the program `latebind` writes it: a bundle with a blob for this CPU, and the portable model.
  std::string compiled(const std::string& options = "--target cpu") const {
    const std::string file = (folder.path() / "compiled.pte").string();
    const std::string command = std::string("LATEBIND_ONNXRUNTIME_PROVIDERS=none '") + LATEBIND_PROGRAM +
                                "' compile '" + kModelFolder.string() + "' --format pte " + options + " --quiet -o '" +
                                file + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
    return file;
  }

  void expect_golden(const std::string& device, const std::string& program, const char* precision = "f32",
                     double limit = 0.99999) {
    ASSERT_NE(load_delegate(), nullptr);
    et::BackendOptions<1> options;
    ASSERT_EQ(options.set_option("precision", precision), et::Error::Ok);
    et::LoadBackendOptionsMap map;
    ASSERT_EQ(map.set_options("LatebindBackend", options.view()), et::Error::Ok);
    Module module(program, Module::LoadMode::Mmap);
    ASSERT_EQ(module.load(map), et::Error::Ok);
    ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
    EXPECT_EQ(option_of("active_device"), device);
    EXPECT_EQ(option_of("active_precision"), precision);
    const Golden golden = Golden::read();
    ASSERT_EQ(golden.ids.size(), 67U);
    double least = 1;
    for (std::size_t i = 0; i < golden.ids.size(); ++i) {
      TextInputs inputs(golden.ids[i]);
      const auto outputs = module.forward(inputs.values());
      ASSERT_TRUE(outputs.ok()) << said();
      const auto vector = floats((*outputs)[0]);
      ASSERT_EQ(vector.size(), kDimension);
      least = std::min(least, cosine(vector, std::span(golden.vectors).subspan(i * kDimension, kDimension)));
    }
    EXPECT_GT(least, limit);
  }

  ProgramFolder folder;
};

TEST_F(MiniLmTest, GivesTheGoldenVectorsOnOpenvino) {
  setenv("LATEBIND_OPENVINO_LIBRARY", openvino_file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  expect_golden("openvino:CPU", folder.write(minilm_program(), minilm_onnx(folder)));
}

TEST_F(MiniLmTest, GivesTheGoldenVectorsFromABundleWithABlob) {
  setenv("LATEBIND_OPENVINO_LIBRARY", openvino_file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  expect_golden("openvino:CPU", compiled());
}

TEST_F(MiniLmTest, GivesTheGoldenVectorsFromABundleWhoseBlobDoesNotFit) {
  setenv("LATEBIND_OPENVINO_LIBRARY", openvino_file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  const auto features = platform::cpu_features();
  if (std::ranges::none_of(features, [](const std::string& one) { return one.find("bf16") != one.npos; })) {
    GTEST_SKIP() << "this CPU has no bf16";
  }
  expect_golden("openvino:CPU", compiled(), "bf16", 0.999);
}

TEST_F(MiniLmTest, GivesTheGoldenVectorsFromABundleWithoutOpenvino) {
  const std::string program = compiled();
  setenv("LATEBIND_OPENVINO_LIBRARY", "/nonexistent", 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", onnxruntime_file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", "none", 1);
  expect_golden("onnxruntime:CPU", program);
}

TEST_F(MiniLmTest, GivesTheGoldenVectorsFromABundleWithoutAnyVendor) {
  setenv("LATEBIND_OPENVINO_LIBRARY", "/nonexistent", 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  expect_golden("native:CPU", compiled(""), "f32", 0.9999999);
}

TEST_F(MiniLmTest, GivesTheGoldenVectorsFromAPortableModelOnOpenvino) {
  setenv("LATEBIND_OPENVINO_LIBRARY", openvino_file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  expect_golden("openvino:CPU", compiled("--compile-spec device=openvino"));
}

TEST_F(MiniLmTest, GivesTheGoldenVectorsOnOnnxRuntimeWhereThereIsNoOpenvino) {
  setenv("LATEBIND_OPENVINO_LIBRARY", "/nonexistent", 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", onnxruntime_file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", "none", 1);
  expect_golden("onnxruntime:CPU", folder.write(minilm_program(), minilm_onnx(folder)));
}

}  // namespace
}  // namespace latebind::test
