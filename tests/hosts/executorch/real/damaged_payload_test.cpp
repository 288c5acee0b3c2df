// Payloads without a sum of their own, damaged, on the real OpenVINO: it must not take the process down.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "tests/hosts/executorch/real/both_backends.h"
#include "tests/support/onnx_builder.h"

namespace latebind::test {
namespace {

constexpr int kFlips = 150;

class DamagedPayloadTest : public BothBackendsTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(BothBackendsTest::SetUp());
    using core::ElementType;
    const OnnxDims dims{std::int64_t{2}, std::int64_t{3}};
    onnx = OnnxBuilder()
               .input("x", ElementType::kF32, dims)
               .output("y", ElementType::kF32, dims)
               .node("Add", {"x", "x"}, {"sum"})
               .node("Relu", {"sum"}, {"y"})
               .bytes();
    onnx_file = (folder.path() / "model.onnx").string();
    std::ofstream(onnx_file, std::ios::binary) << onnx;
  }

  // An error, or a program that runs or says why not. Gives how many loaded.
  int load_with_flipped_bits(const std::string& payload) {
    const auto spec = program_of({"x f32 2,3"}, {"y f32 2,3"});
    std::mt19937 random(7);
    int loaded = 0;
    for (int i = 0; i < kFlips; ++i) {
      std::string damaged = payload;
      const std::size_t bit = std::uniform_int_distribution<std::size_t>(0, 8 * payload.size() - 1)(random);
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      Module module(folder.write(spec, damaged), Module::LoadMode::Mmap);
      if (module.load_method("forward") != et::Error::Ok) continue;
      ++loaded;
      HostTensor x(ScalarType::Float, {2, 3});
      (void)module.forward({x.value()});
    }
    return loaded;
  }

  std::string onnx;
  std::string onnx_file;
};

TEST_F(DamagedPayloadTest, ABlobWithABitFlippedIsNoCrash) {
  EXPECT_LT(load_with_flipped_bits(blob_of(onnx_file)), kFlips);
}

TEST_F(DamagedPayloadTest, AnOnnxModelWithABitFlippedIsNoCrash) {
  EXPECT_LT(load_with_flipped_bits(onnx), kFlips);
}

}  // namespace
}  // namespace latebind::test
