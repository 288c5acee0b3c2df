// Blobs of PJRT plug-ins: the same numbers again, and a refusal before another plug-in sees them.
#include <gmock/gmock.h>

#include "core/backend/questions.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/small_encoder.h"
#include "kit/run_graph.h"
#include "tests/pjrt/real/support.h"

namespace latebind::pjrt::testing {
namespace {

using core::StatusCode;

const core::CompileOptions kThreeTexts{.input_shapes = {{3, 5}, {3, 5}}};

core::Model small_model() {
  auto graph = kit::small_graph({.rotary = true});
  EXPECT_TRUE(graph.ok());
  return kit::model_of(*std::move(graph));
}

class BlobsTest : public VendorTest {
 protected:
  void SetUp() override {
    VendorTest::SetUp();
    if (HasFatalFailure()) return;
    auto made = core::compile_blob(*backend_, small_model(), "CPU", kThreeTexts);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    blob_ = *std::move(made);
  }
  core::Blob blob_;
};

TEST_P(BlobsTest, ComputeTheSameBitsWithoutTheirModel) {
  core::LoadedModel loaded;
  {
    auto made = backend_->capabilities().blobs->load_exporting(small_model(), "CPU", kThreeTexts);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    loaded = *std::move(made);
  }
  const kit::Outcome wanted = kit::run(*loaded.executable, kit::small_batch());
  ASSERT_TRUE(wanted.status.ok()) << wanted.status.to_string();
  const auto exported = loaded.export_blob();
  ASSERT_TRUE(exported.ok()) << exported.status().to_string();
  const auto again = core::load_blob(*backend_on(GetParam()), *exported, "CPU", kThreeTexts);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(kit::run(**again, kit::small_batch()).values, wanted.values);
  EXPECT_TRUE((*again)->active().from_cache);
}

TEST_P(BlobsTest, AreRefusedByAnotherPluginFromTheirLabelAlone) {
  const Vendor& other = std::string(GetParam().name) == kNewer.name ? kOlder : kNewer;
  const auto there = backend_on(other);
  const core::Status judged = core::check_blob(*there, blob_, "CPU", kThreeTexts);
  EXPECT_EQ(judged.code(), StatusCode::kIncompatibleBlob) << judged.to_string();
  // Nor does a label that was changed let the bytes pass.
  const auto own = core::compile_blob(*there, small_model(), "CPU", kThreeTexts);
  ASSERT_TRUE(own.ok()) << own.status().to_string();
  core::Blob forged = *own;
  forged.bytes = blob_.bytes;
  const core::Status loaded = core::load_blob(*there, forged, "CPU", kThreeTexts).status();
  EXPECT_EQ(loaded.code(), StatusCode::kIncompatibleBlob) << loaded.to_string();
  EXPECT_THAT(loaded.to_string(), ::testing::HasSubstr("compile it again"));
}

// As the compile cache gives them back.
TEST_P(BlobsTest, NeedNoCompatibilityTextInTheirLabel) {
  blob_.compatibility.clear();
  EXPECT_TRUE(core::check_blob(*backend_, blob_, "CPU", kThreeTexts).ok());
  const auto loaded = core::load_blob(*backend_, blob_, "CPU", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ((*loaded)->inputs()[0].shape, kThreeTexts.input_shapes[0]);
}

TEST_P(BlobsTest, ForOtherShapesAreRefused) {
  const core::CompileOptions other{.input_shapes = {{3, 6}, {3, 6}}};
  EXPECT_EQ(core::load_blob(*backend_, blob_, "CPU", other).status().code(), StatusCode::kIncompatibleBlob);
}

TEST_P(BlobsTest, RunOnEveryDeviceOfTheirPlugin) {
  const auto devices = backend_->devices();
  ASSERT_TRUE(devices.ok());
  for (const core::Device& device : *devices) {
    const auto loaded = core::load_blob(*backend_, blob_, device.name, kThreeTexts);
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    EXPECT_TRUE(kit::run(**loaded, kit::small_batch()).status.ok()) << device.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Vendors, BlobsTest, ::testing::Values(kNewer, kOlder), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace latebind::pjrt::testing
