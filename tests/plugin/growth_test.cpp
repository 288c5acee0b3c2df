// Plug-ins that were built against an earlier, this, and a later contract, under a host of this one and (in
// lb_plugin_grown_tests) of a later one.
#include <cmath>
#include <random>

#include "kit/networks/batches.h"
#include "kit/networks/encoder_shape.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/random_encoder.h"
#include "kit/reference/evaluator.h"
#include "kit/run_graph.h"
#include "tests/plugin/support.h"

namespace latebind::plugin::testing {
namespace {

TEST(HostTest, HasTheSizeThatThisProgramIsAbout) {
  // tests/plugin/layout.c
  EXPECT_EQ(own_host().struct_size, 136U + HOST_IS_LARGER_BY);
}

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

class OfferedBackendTest : public ::testing::TestWithParam<const char*> {};

TEST_P(OfferedBackendTest, ABackendOfAnyReleaseComputes) {
  const auto backend = backend_in(GetParam(), {}, "native");
  std::mt19937 chance(1);
  for (int i = 0; i < 20; ++i) {
    kit::EncoderShape shape = kit::draw_shape(chance);
    shape.pooled = true;  // what padding has is unspecified
    auto made = kit::encoder(shape);
    ASSERT_OK(made.status());
    const core::Model model = kit::model_of(*std::move(made));
    const auto loaded = backend->load(model, "CPU", {});
    ASSERT_OK(loaded.status());
    const auto batch = kit::draw_batch(chance, {3, 9, 1}, shape.vocabulary);
    const auto outcome = kit::run(**loaded, batch);
    ASSERT_OK(outcome.status);
    const auto wanted = kit::evaluate(*model.graph()->graph, batch);
    ASSERT_EQ(outcome.values.size(), wanted.values.size());
    for (std::size_t v = 0; v < wanted.values.size(); ++v)
      ASSERT_NEAR(static_cast<double>(outcome.values[v]), wanted.values[v], 3e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Plugins, OfferedBackendTest,
                         ::testing::Values(LATEBIND_BACKEND_NATIVE, LATEBIND_BACKEND_NATIVE_GROWN),
                         [](const auto& plugin) {
                           const std::string file = plugin.param;
                           return file.find("grown") != std::string::npos ? "OfALaterRelease" : "OfThisRelease";
                         });

}  // namespace
}  // namespace latebind::plugin::testing
