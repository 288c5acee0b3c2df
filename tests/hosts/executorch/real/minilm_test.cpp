// all-MiniLM-L6-v2 through ExecuTorch's Module, on both vendors' runtimes: the vectors of sentence-transformers.
#include "tests/hosts/executorch/real/minilm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/vectors.h"

namespace latebind::test {
namespace {

using ::testing::HasSubstr;

class MiniLmTest : public ::testing::Test {
 protected:
  void expect_golden(const std::string& device) {
    ASSERT_NE(load_delegate(), nullptr);
    Module module(folder.write(minilm_program(), minilm_onnx(folder)), Module::LoadMode::Mmap);
    ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
    EXPECT_THAT(said(), HasSubstr("on " + device + " in f32"));
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
    EXPECT_GT(least, 0.99999);
  }

  ProgramFolder folder;
};

TEST_F(MiniLmTest, GivesTheGoldenVectorsOnOpenvino) {
  setenv("LATEBIND_OPENVINO_LIBRARY", openvino_file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  expect_golden("openvino:CPU");
}

TEST_F(MiniLmTest, GivesTheGoldenVectorsOnOnnxRuntimeWhereThereIsNoOpenvino) {
  setenv("LATEBIND_OPENVINO_LIBRARY", "/nonexistent", 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", onnxruntime_file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", "none", 1);
  expect_golden("onnxruntime:CPU");
}

}  // namespace
}  // namespace latebind::test
