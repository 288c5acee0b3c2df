// Compiled models: as good as what they were compiled from, and refused where they do not belong.
#include <cmath>

#include "core/backend/questions.h"
#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

// A matrix product, in which the precision shows: 1/3 is a different number in each.
OnnxBuilder product_model() {
  OnnxBuilder builder;
  const std::vector<float> weights(64 * 64, 1.0F / 3);
  builder.input("x", ElementType::kF32, {"n", 64})
      .output("y", ElementType::kF32, {"n", 64})
      .constant("w", ElementType::kF32, {64, 64}, std::span(weights))
      .node("MatMul", {"x", "w"}, {"y"});
  return builder;
}

std::vector<float> product(core::Executable& executable) {
  Tensor<float> input{Shape{2, 64}, std::vector<float>(128, 1.0F / 7)};
  OutputTensor output;
  EXPECT_OK(run(executable, input.view(ElementType::kF32), output));
  return values_of<float>(output);
}

TEST_P(ConformanceTest, BlobComputesWhatItsModelDoes) {
  const auto model = product_model().model();
  for (const auto precision : {core::Precision::kF32, core::Precision::kBF16}) {
    core::CompileOptions options;
    options.precision = precision;
    const auto direct = try_load(model, options);
    if (!direct.ok() && precision != core::Precision::kF32) continue;
    ASSERT_OK(direct.status());
    const auto blob = core::compile_blob(*backend_, model, GetParam().device, options);
    ASSERT_OK(blob.status());
    EXPECT_EQ(blob->backend, GetParam().backend);
    EXPECT_EQ(blob->device, GetParam().device);
    EXPECT_EQ(blob->runtime_version, *backend_->runtime_version());
    EXPECT_EQ(blob->precision, precision);
    const auto loaded = core::load_blob(*backend_, *blob, GetParam().device, options);
    ASSERT_OK(loaded.status());
    EXPECT_EQ((*loaded)->active().precision, precision);
    EXPECT_EQ((*loaded)->inputs()[0].name, "x");
    EXPECT_EQ((*loaded)->outputs()[0].name, "y");
    const auto values = product(**loaded);
    EXPECT_EQ(values, product(**direct)) << "the precision is not what it was";
    ASSERT_EQ(values.size(), 128U);
    if (precision == core::Precision::kF32) {
      EXPECT_NEAR(values[0], 64.0 / 21, 1e-5);
    }
  }
}

TEST_P(ConformanceTest, BlobOutlivesItsBackendAndIsOutlived) {
  auto blob = core::compile_blob(*backend_, product_model().model(), GetParam().device, {});
  ASSERT_OK(blob.status());
  backend_ = make_test_backend(GetParam().made_by);
  auto loaded = core::load_blob(*backend_, *blob, GetParam().device, {});
  ASSERT_OK(loaded.status());
  *blob = {};
  backend_.reset();
  EXPECT_NEAR(product(**loaded)[0], 64.0 / 21, 1e-5);
}

TEST_P(ConformanceTest, LoadsABlobFromAnyAddress) {
  const auto blob = core::compile_blob(*backend_, product_model().model(), GetParam().device, {});
  ASSERT_OK(blob.status());
  const std::string text(reinterpret_cast<const char*>(blob->bytes.bytes.data()), blob->bytes.bytes.size());
  for (std::size_t offset = 0; offset < 9; offset += 4) {
    core::Blob moved = *blob;
    moved.bytes = core::SharedBytes::from_string(std::string(offset, ' ') + text);
    moved.bytes.bytes = moved.bytes.bytes.subspan(offset);
    const auto loaded = core::load_blob(*backend_, moved, GetParam().device, {});
    ASSERT_OK(loaded.status());
    EXPECT_NEAR(product(**loaded)[0], 64.0 / 21, 1e-5);
  }
}

TEST_P(ConformanceTest, RefusesABlobThatWasMadeForSomethingElse) {
  const auto blob = core::compile_blob(*backend_, product_model().model(), GetParam().device, {});
  ASSERT_OK(blob.status());
  const auto refused = [&](const core::Blob& changed, const core::CompileOptions& options = {}) {
    const auto loaded = core::load_blob(*backend_, changed, GetParam().device, options);
    EXPECT_EQ(loaded.status().code(), StatusCode::kIncompatibleBlob) << loaded.status().to_string();
  };
  core::Blob changed = *blob;
  changed.runtime_version = "1999.1";
  refused(changed);
  changed = *blob;
  changed.device = "NPU.9999";
  refused(changed);
  changed = *blob;
  changed.backend = "somebody else";
  refused(changed);
  changed = *blob;
  changed.precision = core::Precision::kF16;
  refused(changed);
  core::CompileOptions reshaped;
  reshaped.input_shapes = {Shape{1, 64}};
  refused(*blob, reshaped);
}

TEST_P(ConformanceTest, RefusesADamagedBlob) {
  const auto blob = core::compile_blob(*backend_, product_model().model(), GetParam().device, {});
  ASSERT_OK(blob.status());
  const std::string text(reinterpret_cast<const char*>(blob->bytes.bytes.data()), blob->bytes.bytes.size());
  std::vector<std::string> damaged{"",
                                   "x",
                                   "no blob at all, but long enough to be looked at",
                                   text.substr(0, text.size() / 2),
                                   text.substr(0, 100),
                                   std::string(text.size(), '\0')};
  for (std::string& bytes : damaged) {
    core::Blob changed = *blob;
    changed.bytes = core::SharedBytes::from_string(std::move(bytes));
    const auto loaded = core::load_blob(*backend_, changed, GetParam().device, {});
    EXPECT_EQ(loaded.status().code(), StatusCode::kIncompatibleBlob) << loaded.status().to_string();
  }
  EXPECT_OK(core::load_blob(*backend_, *blob, GetParam().device, {}).status());
}

}  // namespace
}  // namespace latebind::test
