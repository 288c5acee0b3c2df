// Plug-ins that were built against an earlier, this, and a later contract, under a host of this one and (in
// lb_plugin_grown_tests) of a later one.
#include "tests/plugin/support.h"

namespace latebind::plugin::testing {
namespace {

class GrowthTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GrowthTest, APluginOfAnyReleaseComputes) {
  const auto backend = backend_in(GetParam());
  ASSERT_OK(backend->available());
  const auto devices = backend->devices();
  ASSERT_OK(devices.status());
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().id(), "toy:CPU");
  const auto loaded = backend->load(sum(), "CPU", {});
  ASSERT_OK(loaded.status());
  Summands summands;
  OutputTensor output;
  ASSERT_OK((*loaded)->execute(summands.views, {&output, 1}, {}));
  EXPECT_THAT(floats_of(output), ElementsAre(11, 22, 33, 44));
  EXPECT_EQ((*loaded)->active().runtime_version, "1.5");
}

TEST_P(GrowthTest, WhatThePluginDoesNotHaveIsNotCalled) {
  const auto backend = backend_in(GetParam());
  ASSERT_OK(backend->available());
  const bool is_cut = std::string(GetParam()).find("cut") != std::string::npos;
  EXPECT_EQ(backend->capabilities().blobs == nullptr, is_cut);
  EXPECT_EQ(backend->why_not("NPU"), is_cut ? "" : "toy has no NPU; take CPU");
  EXPECT_EQ(backend->diagnosis(nullptr).search.size(), is_cut ? 0U : 1U);
  const auto devices = backend->devices();
  ASSERT_OK(devices.status());
  EXPECT_EQ(devices->front().metadata.contains("Additions"), !is_cut);
  core::LeftNodes left;
  const auto blob = backend->compile(sum(), "CPU", {}, left);
  EXPECT_EQ(blob.status().code(), is_cut ? StatusCode::kUnsupported : StatusCode::kOk) << blob.status().to_string();
  EXPECT_EQ(backend->create_buffer("CPU", 64).status().code(), is_cut ? StatusCode::kUnsupported : StatusCode::kOk);
}

INSTANTIATE_TEST_SUITE_P(Plugins, GrowthTest, ::testing::Values(TOY_PLUGIN, TOY_PLUGIN_GROWN, TOY_PLUGIN_CUT),
                         [](const auto& plugin) {
                           const std::string file = plugin.param;
                           return file.find("cut") != std::string::npos     ? "OfAnEarlierRelease"
                                  : file.find("grown") != std::string::npos ? "OfALaterRelease"
                                                                            : "OfThisRelease";
                         });

}  // namespace
}  // namespace latebind::plugin::testing
