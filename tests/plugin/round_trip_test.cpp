// native computes the same as a plug-in as it does without: core -> contract -> core, bit for bit.
#include <map>
#include <random>
#include <span>

#include "backends/native/backend.h"
#include "backends/plugin/executable.h"
#include "backends/table/offer.h"
#include "kit/networks/batches.h"
#include "kit/networks/encoder_shape.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/random_encoder.h"
#include "kit/reference/evaluator.h"
#include "kit/run_graph.h"
#include "tests/plugin/support.h"

namespace latebind::plugin::testing {
namespace {

using kit::EncoderShape;
using kit::Inputs;

std::shared_ptr<PluginBackend> native_plugin(core::BackendSettingTexts settings = {}) {
  return backend_in(LATEBIND_BACKEND_NATIVE, std::move(settings), "native");
}

TEST(RoundTripTest, RandomNetworksAreComputedBitForBitInEveryPrecision) {
  const auto direct = native::configured_backend({});
  const auto plugged = native_plugin();
  const auto devices = direct->devices();
  ASSERT_OK(devices.status());
  std::mt19937 chance(1);
  for (unsigned i = 0; i < 40; ++i) {
    EncoderShape shape = kit::draw_shape(chance);
    kit::draw_biases_and_experts(chance, shape);
    kit::draw_convolution_and_disentangled(chance, shape);
    auto made = kit::encoder(shape);
    ASSERT_OK(made.status());
    const core::Model model = kit::model_of(*std::move(made));
    const Inputs batch = kit::draw_batch(chance, {3, 17, 1}, shape.vocabulary);
    for (const core::Precision precision : devices->front().traits.precisions) {
      core::CompileOptions options;
      options.precision = precision;
      const auto wanted = direct->load(model, "CPU", options);
      const auto given = plugged->load(model, "CPU", options);
      ASSERT_EQ(given.status().to_string(), wanted.status().to_string());
      if (!wanted.ok()) continue;
      const auto a = kit::run(**wanted, batch);
      const auto b = kit::run(**given, batch);
      ASSERT_EQ(b.status.to_string(), a.status.to_string());
      EXPECT_EQ(b.shape, a.shape);
      EXPECT_EQ(b.values, a.values) << "network " << i << " in " << core::word_of(precision);
    }
  }
}

TEST(RoundTripTest, ItsDeviceIsTheSame) {
  const auto wanted = native::configured_backend({})->devices();
  const auto given = native_plugin()->devices();
  ASSERT_OK(wanted.status());
  ASSERT_OK(given.status());
  core::Device device = given->front();
  // What the host adds.
  EXPECT_EQ(device.metadata.erase("PluginVersion"), 1U);
  EXPECT_EQ(device.metadata.erase("PluginDigest"), 1U);
  EXPECT_EQ(device.id(), wanted->front().id());
  EXPECT_EQ(device.kind, wanted->front().kind);
  EXPECT_EQ(device.full_name, wanted->front().full_name);
  EXPECT_EQ(device.traits, wanted->front().traits);
  EXPECT_EQ(device.metadata, wanted->front().metadata);
}

TEST(RoundTripTest, SettingsReachTheBackend) {
  expect_error(native_plugin({{"isa", "avx9"}})->available(), StatusCode::kInvalidArgument, "plugin.native.isa 'avx9'");
  const auto devices = native_plugin({{"isa", "portable"}})->devices();
  ASSERT_OK(devices.status());
  EXPECT_EQ(devices->front().metadata.at("InstructionSet"), "portable");
}

TEST(RoundTripTest, TensorsStayInBuffersBetweenRuns) {
  const auto backend = native_plugin();
  auto made = kit::encoder({.pooled = true});
  ASSERT_OK(made.status());
  const auto loaded = backend->load(kit::model_of(*std::move(made)), "CPU", {});
  ASSERT_OK(loaded.status());
  auto& executable = dynamic_cast<PluginExecutable&>(**loaded);
  const Shape ids_shape{2, 3};
  std::array<std::int64_t, 6> ids{1, 2, 3, 4, 5, 6};
  std::array<std::int64_t, 6> mask{1, 1, 1, 1, 1, 0};
  const std::array views{TensorView{ids.data(), ElementType::kI64, ids_shape, std::nullopt},
                         TensorView{mask.data(), ElementType::kI64, ids_shape, std::nullopt}};
  OutputTensor wanted;
  ASSERT_OK(executable.execute(views, {&wanted, 1}, {}));
  const auto memory = backend->create_buffer("CPU", 4096);
  ASSERT_OK(memory.status());
  ASSERT_OK((*memory)->write(64, std::as_bytes(std::span(ids))));
  const TensorView on_device{nullptr, ElementType::kI64, ids_shape, std::nullopt};
  const TensorView result{nullptr, ElementType::kF32, wanted.view().shape, std::nullopt};
  const std::array<PlacedTensor, 2> inputs{PlacedTensor{on_device, *memory, 64}, PlacedTensor{views[1]}};
  ASSERT_OK(executable.execute_to_buffers(inputs, std::array{PlacedTensor{result, *memory, 1024}}, {}));
  std::vector<float> read(floats_of(wanted).size());
  ASSERT_OK((*memory)->read(1024, std::as_writable_bytes(std::span(read))));
  EXPECT_EQ(read, floats_of(wanted));
  TensorView other = result;
  other.shape = {1, result.shape[1]};
  EXPECT_EQ(executable.execute_to_buffers(inputs, std::array{PlacedTensor{other, *memory, 1024}}, {}).code(),
            StatusCode::kBufferTooSmall);
  other.shape = {3, result.shape[1]};
  expect_error(executable.execute_to_buffers(inputs, std::array{PlacedTensor{other, *memory, 1024}}, {}),
               StatusCode::kShapeMismatch, "output 0 was expected as");
}

TEST(RoundTripTest, WeightsAreReleasedWithTheExecutable) {
  const auto backend = native_plugin();
  auto made = kit::encoder({});
  ASSERT_OK(made.status());
  const std::weak_ptr<const void> bytes = made->weights().front().bytes.owner;
  ASSERT_FALSE(bytes.expired());
  auto loaded = backend->load(kit::model_of(*std::move(made)), "CPU", {});
  ASSERT_OK(loaded.status());
  loaded = Status(StatusCode::kNotFound, "gone");
  EXPECT_TRUE(bytes.expired());
}

}  // namespace
}  // namespace latebind::plugin::testing
