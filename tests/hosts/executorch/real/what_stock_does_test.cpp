// What ExecuTorch 1.5.1's own OpenVINO backend does with tensors that are not plain, beside the delegate, from the same
// blob. These are the marks "Stock: …" in the delegate's other tests, and the table in docs/executorch.md.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/hosts/executorch/real/both_backends.h"
#include "tests/support/onnx_builder.h"

namespace latebind::test {
namespace {

using core::ElementType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WhatStockDoesTest : public BothBackendsTest {
 protected:
  // A program and its bytes, which stay: stock frees what OpenVINO may still read.
  struct Loaded {
    std::string bytes;
    std::unique_ptr<Module> module;

    // Nothing when it fails.
    std::optional<et::EValue> run(HostTensor& x) const {
      const auto outputs = module->forward({x.value()});
      if (!outputs.ok()) return std::nullopt;
      return (*outputs)[0];
    }
  };

  // y = x + x, compiled in f32, as a program for both.
  void make(ElementType type, const OnnxDims& dims, pte::ProgramSpec spec, const std::string& op = "Add") {
    const std::string onnx = (folder.path() / "model.onnx").string();
    std::ofstream(onnx, std::ios::binary)
        << OnnxBuilder().input("x", type, dims).output("y", type, dims).node(op, {"x", "x"}, {"y"}).bytes();
    const std::string blob = blob_of(onnx);
    spec.compile_specs = {{"device", "CPU"}};
    for (const auto& [loaded, id] : {std::pair(&ours, pte::kBackendId), std::pair(&stock, pte::kStockBackendId)}) {
      spec.backend = id;
      loaded->bytes = content_of(folder.write(spec, blob));
      loaded->module = std::make_unique<Module>(
          std::make_unique<::executorch::extension::BufferDataLoader>(loaded->bytes.data(), loaded->bytes.size()));
      ASSERT_EQ(loaded->module->load_method("forward"), et::Error::Ok) << said();
    }
    clear_log();
  }
  static std::string all_logged() {
    std::string text;
    for (const std::string& line : logged())
      text += line + "\n";
    return text;
  }

  Loaded ours;
  Loaded stock;
};

TEST_F(WhatStockDoesTest, RankZero) {
  make(ElementType::kF32, {}, program_of({"x f32 -"}, {"y f32 -"}));
  HostTensor x(ScalarType::Float, {});
  x.fill<float>({21});
  EXPECT_FALSE(stock.run(x));
  // Without a reason.
  EXPECT_THAT(all_logged(), HasSubstr("CALL_DELEGATE execute failed at instruction 0: 0x1"));
  const auto y = ours.run(x);
  ASSERT_TRUE(y) << said();
  EXPECT_THAT(floats(*y), ElementsAre(42));
}

TEST_F(WhatStockDoesTest, ElementTypes) {
  struct Kind {
    ScalarType type;
    ElementType element;
    const char* name;
    bool stock_takes_it;
  };
  for (const Kind& kind :
       {Kind{ScalarType::Bool, ElementType::kBool, "bool", true}, Kind{ScalarType::Char, ElementType::kI8, "i8", true},
        Kind{ScalarType::Byte, ElementType::kU8, "u8", true}, Kind{ScalarType::Short, ElementType::kI16, "i16", true},
        Kind{ScalarType::UInt16, ElementType::kU16, "u16", false},
        Kind{ScalarType::Int, ElementType::kI32, "i32", true},
        Kind{ScalarType::UInt32, ElementType::kU32, "u32", false},
        Kind{ScalarType::Long, ElementType::kI64, "i64", true},
        Kind{ScalarType::UInt64, ElementType::kU64, "u64", false},
        Kind{ScalarType::Half, ElementType::kF16, "f16", true},
        Kind{ScalarType::BFloat16, ElementType::kBF16, "bf16", true},
        Kind{ScalarType::Float, ElementType::kF32, "f32", true},
        Kind{ScalarType::Double, ElementType::kF64, "f64", true}}) {
    const std::string name = kind.name;
    const std::string x_text = "x " + name + " 2";
    const std::string y_text = "y " + name + " 2";
    make(kind.element, {std::int64_t{2}}, program_of({x_text}, {y_text}),
         kind.element == ElementType::kBool ? "And" : "Add");
    HostTensor x(kind.type, {2});
    EXPECT_EQ(stock.run(x).has_value(), kind.stock_takes_it) << name;
    if (!kind.stock_takes_it) {
      EXPECT_THAT(all_logged(), HasSubstr("unsupported scalar type")) << name;
    }
    EXPECT_TRUE(ours.run(x)) << name << ": " << said();
  }
}

TEST_F(WhatStockDoesTest, DynamicBatch) {
  make(ElementType::kF32, {std::string("rows"), std::int64_t{2}}, program_of({"x f32 ?4,2"}, {"y f32 ?4,2"}));
  HostTensor large(ScalarType::Float, {4, 2});
  large.fill<float>({1, 2, 3, 4, 5, 6, 7, 8});
  HostTensor small(ScalarType::Float, {2, 2});
  small.fill<float>({10, 20, 30, 40});
  ASSERT_TRUE(stock.run(large));
  const auto of_stock = stock.run(small);
  ASSERT_TRUE(of_stock);
  // The upper bound for a shape, and rows of the run before.
  EXPECT_EQ(of_stock->toTensor().size(0), 4);
  EXPECT_THAT(floats(*of_stock), ElementsAre(20, 40, 60, 80, 10, 12, 14, 16));
  ASSERT_TRUE(ours.run(large)) << said();
  const auto y = ours.run(small);
  ASSERT_TRUE(y) << said();
  EXPECT_EQ(y->toTensor().size(0), 2);
  EXPECT_THAT(floats(*y), ElementsAre(20, 40, 60, 80));
}

TEST_F(WhatStockDoesTest, ChannelsLastInput) {
  auto spec = program_of({"x f32 1,2,2,2"}, {"y f32 1,2,2,2"});
  spec.inputs[0].dim_order = {0, 2, 3, 1};
  make(ElementType::kF32, {std::int64_t{1}, std::int64_t{2}, std::int64_t{2}, std::int64_t{2}}, spec);
  HostTensor x(ScalarType::Float, {1, 2, 2, 2}, {0, 2, 3, 1});
  x.fill<float>({0, 4, 1, 5, 2, 6, 3, 7});
  const auto of_stock = stock.run(x);
  ASSERT_TRUE(of_stock);
  // Taken for row-major, without a word.
  EXPECT_THAT(floats(*of_stock), ElementsAre(0, 8, 2, 10, 4, 12, 6, 14));
  const auto y = ours.run(x);
  ASSERT_TRUE(y) << said();
  EXPECT_THAT(floats(*y), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
}

TEST_F(WhatStockDoesTest, IntegersBeyond32Bits) {
  make(ElementType::kI64, {std::int64_t{1}}, program_of({"x i64 1"}, {"y i64 1"}));
  HostTensor x(ScalarType::Long, {1});
  x.fill<std::int64_t>({std::int64_t{1} << 40});
  const auto of_stock = stock.run(x);
  ASSERT_TRUE(of_stock);
  EXPECT_NE(*of_stock->toTensor().const_data_ptr<std::int64_t>(), std::int64_t{1} << 41);
  EXPECT_FALSE(ours.run(x));
  EXPECT_THAT(said(), HasSubstr("does not fit in 32 bits"));
}

}  // namespace
}  // namespace latebind::test
