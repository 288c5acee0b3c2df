#include "core/model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/onnx_builder.h"

namespace latebind::core {
namespace {

using ::testing::HasSubstr;

class ModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::path(::testing::TempDir()) /
             ("model_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path write(const std::string& name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    return folder / name;
  }

  std::filesystem::path folder;
};

// As a vendor's host does within one process: whoever opens the model would read that memory.
TEST_F(ModelTest, DataAtAnAddressInMemoryIsRefused) {
  for (const std::string location : {"*/_ORT_MEM_ADDR_/*", "../*/_ORT_MEM_ADDR_/*"}) {
    const auto built = test::OnnxBuilder()
                           .input("x", ElementType::kF32, {std::int64_t{4}})
                           .output("y", ElementType::kF32, {std::int64_t{4}})
                           .external_constant("w", ElementType::kF32, {4}, location, 4096, 16)
                           .node("Add", {"x", "w"}, {"y"});
    const auto file = Model::from_file(write("a.onnx", built.bytes()));
    EXPECT_EQ(file.status().code(), StatusCode::kInvalidModel);
    EXPECT_THAT(std::string(file.status().message()), HasSubstr("an address in memory"));
    const Model memory = built.model({{.location = location, .data = SharedBytes::from_string(std::string(16, 'a'))}});
    EXPECT_EQ(memory.check_forms().code(), StatusCode::kInvalidModel);
  }
}

TEST_F(ModelTest, TellsOnnxAndIrByTheirFirstBytes) {
  const auto onnx = Model::from_file(write("a.onnx", std::string("\x08\x0a\x3a\x00", 4)));
  ASSERT_TRUE(onnx.ok()) << onnx.status().to_string();
  EXPECT_NE(onnx->find(ModelFormat::kOnnx), nullptr);
  EXPECT_EQ(onnx->find(ModelFormat::kOpenvinoIr), nullptr);

  write("b.bin", "weights");
  const auto ir = Model::from_file(write("b.xml", "<?xml version=\"1.0\"?>\n<net name=\"b\"/>"));
  ASSERT_TRUE(ir.ok()) << ir.status().to_string();
  EXPECT_NE(ir->find(ModelFormat::kOpenvinoIr), nullptr);
}

TEST_F(ModelTest, AnIrWithoutItsWeightsIsRefusedByName) {
  const auto ir = Model::from_file(write("b.xml", "<net/>"));
  ASSERT_FALSE(ir.ok());
  EXPECT_EQ(ir.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(ir.status().to_string(), HasSubstr("b.bin"));
}

TEST_F(ModelTest, GarbageEmptyMissingAndFoldersAreRefusedWithThePath) {
  EXPECT_EQ(Model::from_file(write("g", "hello world")).status().code(), StatusCode::kInvalidModel);
  EXPECT_EQ(Model::from_file(write("e", "")).status().code(), StatusCode::kInvalidModel);
  EXPECT_EQ(Model::from_file(folder / "none.onnx").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(Model::from_file(folder / "none.onnx").status().to_string(), HasSubstr("none.onnx"));
  EXPECT_FALSE(Model::from_file(folder).ok());
}

TEST_F(ModelTest, TheDigestCoversTheWeights) {
  const auto model_with = [](std::string weights) {
    ModelForm form;
    form.format = ModelFormat::kOpenvinoIr;
    form.graph = SharedBytes::from_string("<net/>");
    form.weights = SharedBytes::from_string(std::move(weights));
    return Model::from_forms("m", {form});
  };
  EXPECT_EQ(*model_with("a").digest(), *model_with("a").digest());
  EXPECT_NE(*model_with("a").digest(), *model_with("b").digest());
  EXPECT_EQ(*model_with("a").with_digest("known").digest(), "known");
  const auto of_parts = [](const char* graph, const char* weights) {
    return *Model::from_forms("m", {{.format = ModelFormat::kOpenvinoIr,
                                     .graph = SharedBytes::from_string(graph),
                                     .weights = SharedBytes::from_string(weights)}})
                .digest();
  };
  EXPECT_NE(of_parts("<net/>\n", "weights"), of_parts("<net/>", "\nweights"));
}

}  // namespace
}  // namespace latebind::core
