// The delegate beside ExecuTorch's own OpenVINO backend, in one process, with the same blob and the same inputs.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "core/platform/system_info.h"
#include "tests/hosts/executorch/real/both_backends.h"
#include "tests/support/vectors.h"

namespace latebind::test {
namespace {

using ::testing::HasSubstr;

// NaN included, which equals nothing.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, {}, std::bit_cast<std::uint32_t, float>, std::bit_cast<std::uint32_t, float>);
}

class BesideStockTest : public BothBackendsTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(BothBackendsTest::SetUp());
    onnx = minilm_onnx(folder);
    spec = program_of({"input_ids i64 1,16", "attention_mask i64 1,16"}, {"sentence_embedding f32 1,384"});
    blob = blob_of((folder.path() / "minilm.onnx").string());
    ids.resize(16);
    std::iota(ids.begin(), ids.end(), 2000);
  }

  std::vector<float> run(const pte::ProgramSpec& program, std::string_view payload, const std::string& name) {
    Module module(folder.write(program, payload, name), Module::LoadMode::Mmap);
    TextInputs inputs(ids);
    const auto outputs = module.forward(inputs.values());
    EXPECT_TRUE(outputs.ok()) << said();
    return outputs.ok() ? floats((*outputs)[0]) : std::vector<float>();
  }
  // Stock gives the payload's memory back as soon as OpenVINO has imported it, and OpenVINO 2026.4 still reads it then:
  // from a mapped file that is a crash. So here the program lies in memory that stays.
  std::vector<float> run_stock() {
    const std::string file = folder.write(stock(), blob, "stock.pte");
    const std::string program = content_of(file);
    Module module(std::make_unique<::executorch::extension::BufferDataLoader>(program.data(), program.size()));
    TextInputs inputs(ids);
    const auto outputs = module.forward(inputs.values());
    EXPECT_TRUE(outputs.ok());
    return outputs.ok() ? floats((*outputs)[0]) : std::vector<float>();
  }
  std::vector<float> run_raw(std::string_view payload, const std::string& precision) {
    TextInputs inputs(ids);
    return RawOpenvino(*library, payload, precision).run(inputs.ids(), inputs.mask(), 16);
  }
  pte::ProgramSpec with(const std::string& key, const std::string& value) const {
    pte::ProgramSpec program = spec;
    program.compile_specs.push_back({key, value});
    return program;
  }
  pte::ProgramSpec stock() const {
    pte::ProgramSpec program = with("device", "CPU");
    program.backend = pte::kStockBackendId;
    return program;
  }

  std::string onnx;
  std::string blob;
  pte::ProgramSpec spec;
  std::vector<std::int32_t> ids;
};

TEST_F(BesideStockTest, OursIsBitExactWithOpenvinoRunDirectlyAtTheSamePrecision) {
  const auto exact = run_raw(blob, "f32");
  EXPECT_EQ(run(spec, blob, "ours.pte"), exact);
  EXPECT_EQ(run(with("device", "CPU"), blob, "device.pte"), exact);
  // The same from the model instead of the blob.
  EXPECT_EQ(run(spec, onnx, "onnx.pte"), exact);
}

TEST_F(BesideStockTest, StockComputesInWhatOpenvinoLikesWithoutSayingSo) {
  const auto of_stock = run_stock();
  EXPECT_TRUE(same_bits(of_stock, run_raw(blob, "")));
  const auto features = platform::cpu_features();
  if (std::ranges::none_of(features, [](const std::string& f) { return f.find("bf16") != f.npos; })) return;
  // The blob was compiled in f32. It is bf16 here, and with AMX OpenVINO 2026.4 makes nothing but NaN of that.
  const auto exact = run(spec, blob, "ours.pte");
  EXPECT_TRUE(std::ranges::none_of(exact, [](float f) { return std::isnan(f); }));
  if (std::ranges::none_of(of_stock, [](float f) { return std::isnan(f); })) {
    const double likeness = cosine(of_stock, exact);
    EXPECT_LT(likeness, 0.999999);
    EXPECT_GT(likeness, 0.99);
  }
  // Who wants that asks for it.
  EXPECT_TRUE(same_bits(run(with("precision", "bf16"), blob, "bf16.pte"), of_stock));
}

TEST_F(BesideStockTest, AProgramOfStocksRunsAsItIsUnderOurName) {
  pte::ProgramSpec converted = stock();
  converted.backend = pte::kBackendId;
  EXPECT_EQ(run(converted, blob, "converted.pte"), run_raw(blob, "f32"));
}

TEST_F(BesideStockTest, ABlobOfAnotherVersionIsRefusedWithTheVersions) {
  std::string other = blob;
  const auto at = other.find("ov=");
  ASSERT_NE(at, std::string::npos);
  other.replace(at, 7, "ov=2031");
  Module module(folder.write(spec, other), Module::LoadMode::Mmap);
  EXPECT_EQ(module.load_method("forward"), et::Error::DelegateInvalidCompatibility);
  EXPECT_THAT(said(), HasSubstr("refuses the blob"));
}

// OpenVINO alone takes 1.5 times the payload for it: the mapping, and the weights as it lays them out.
TEST_F(BesideStockTest, LoadingAMappedPayloadPeaksBelow1Point2OfItsSize) {
  // The library and its threads are there before.
  EXPECT_FALSE(run(spec, blob, "first.pte").empty());
  const std::string file = folder.write(with("precision", "f32"), blob);
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  const auto before = platform::resident_bytes();
  Module module(file, Module::LoadMode::Mmap);
  ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
  EXPECT_LT(static_cast<double>(platform::peak_resident_bytes() - before), 1.2 * static_cast<double>(blob.size()));
}

TEST_F(BesideStockTest, ABlobThatIsCutOffIsAnErrorWhereverItEnds) {
  for (std::size_t size = 1; size < blob.size(); size += 1 + blob.size() / 20) {
    Module module(folder.write(spec, std::string_view(blob).substr(0, size)), Module::LoadMode::Mmap);
    EXPECT_NE(module.load_method("forward"), et::Error::Ok) << size;
  }
}

}  // namespace
}  // namespace latebind::test
