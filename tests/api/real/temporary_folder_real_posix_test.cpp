// Vendors that take files alone, where no file can be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "latebind/latebind.hpp"
#include "tests/support/onnx_builder.h"

namespace {

using ::testing::ElementsAre;

TEST(InterfaceRealPosixTest, ExternalDataNeedsNoFolderForTemporaryFiles) {
  using latebind::core::ElementType;
  latebind::test::OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {"n", 3})
      .output("y", ElementType::kF32, {"n", 3})
      .external_constant("w", ElementType::kF32, {3}, "weights.bin", 0, 12)
      .node("Add", {"x", "w"}, {"y"});
  const std::string onnx = builder.bytes();
  const std::array<float, 3> weights{10, 20, 30};
  const lb_external_data external{"weights.bin", weights.data(), sizeof weights};
  const char* before = std::getenv("TMPDIR");
  const std::string folder = before != nullptr ? before : "/tmp";
  setenv("TMPDIR", "/nowhere", 1);
  const auto runtime = latebind::Runtime::create();
  auto memory = LB_INIT(lb_model_memory);
  memory.format = LB_FORMAT_ONNX;
  memory.graph = onnx.data();
  memory.graph_size = onnx.size();
  memory.external = &external;
  memory.external_count = 1;
  lb_model* model = nullptr;
  const latebind::Options options{{"device", "openvino:CPU"}};
  const lb_code code = lb_model_load_memory(runtime->get(), &memory, options.get(), nullptr, &model);
  setenv("TMPDIR", folder.c_str(), 1);
  ASSERT_EQ(code, LB_OK) << latebind::Status::of(code).message();
  const std::array<float, 3> x{1, 2, 3};
  const lb_tensor input = latebind::tensor_of(x.data(), {1, 3});
  const auto output = latebind::Output::create();
  lb_output* raw = output->get();
  ASSERT_EQ(lb_model_run(model, &input, 1, &raw, 1, nullptr), LB_OK);
  const auto* y = static_cast<const float*>(output->tensor().data);
  EXPECT_THAT(std::vector<float>(y, y + 3), ElementsAre(11, 22, 33));
  lb_model_destroy(model);
}

}  // namespace
