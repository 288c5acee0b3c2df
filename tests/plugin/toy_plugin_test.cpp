// A plug-in in C does what a backend does: toy_plugin.c.
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>

#include "backends/plugin/executable.h"
#include "core/backend/questions.h"
#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "core/log.h"
#include "core/placement/placement.h"
#include "core/vendor/vendor_call.h"
#include "tests/fakes/loaded.h"
#include "tests/plugin/support.h"

namespace latebind::plugin::testing {
namespace {

using std::chrono::milliseconds;

core::RunOptions within(milliseconds time) {
  return {.deadline = std::chrono::steady_clock::now() + time};
}

Status run(core::Executable& executable, const core::RunOptions& options = {}) {
  Summands summands;
  OutputTensor output;
  return executable.execute(summands.views, {&output, 1}, options);
}

std::unique_ptr<core::Executable> load_in_mode(const std::string& mode, unsigned requests = 0) {
  core::CompileOptions options;
  options.requests = requests;
  auto loaded = backend_in(TOY_PLUGIN, {{"mode", mode}})->load(sum(), "CPU", options);
  EXPECT_OK(loaded.status());
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

TEST(ToyPluginTest, IsTakenByAPlacementAndAttested) {
  core::Registry registry;
  ASSERT_OK(registry.add(backend_in(TOY_PLUGIN)));
  const auto placement = core::Placement::parse("auto", registry);
  ASSERT_OK(placement.status());
  const auto placed = core::Engine(registry).load(sum(), *placement, {});
  ASSERT_OK(placed.status());
  Summands summands;
  OutputTensor output;
  ASSERT_OK((*placed)->execute(summands.views, {&output, 1}, {}));
  EXPECT_THAT(floats_of(output), ElementsAre(11, 22, 33, 44));
  const core::ActiveConfig& active = (*placed)->attestation()->active;
  EXPECT_EQ(active.id(), "toy:CPU");
  EXPECT_EQ(active.device_full_name, "additions in a loop");
  EXPECT_EQ(active.library_file, TOY_PLUGIN);
}

TEST(ToyPluginTest, ItsDeviceHasFactsAndTheDigestOfTheLibrary) {
  const auto devices = backend_in(TOY_PLUGIN)->devices();
  ASSERT_OK(devices.status());
  const core::Device& device = devices->front();
  EXPECT_TRUE(device.traits.graphs_only);
  EXPECT_EQ(device.runtime_version, "1.5");
  EXPECT_EQ(device.metadata.at("Additions"), "in a loop");
  EXPECT_EQ(device.metadata.at("MemoryBytes"), "1048576");
  EXPECT_EQ(device.metadata.at("PluginVersion"), "1.5");
  EXPECT_EQ(device.metadata.at("PluginDigest"), load_plugin(TOY_PLUGIN).ok() ? (*load_plugin(TOY_PLUGIN))->digest : "");
  EXPECT_EQ(device.metadata.at("PluginDigest").size(), 64U);
}

TEST(ToyPluginTest, RefusalsKeepThePluginsWords) {
  const auto backend = backend_in(TOY_PLUGIN);
  graph::GraphBuilder builder{core::FilePart{}};
  const auto x = builder.add(graph::Input{"x", ElementType::kF32, {2}});
  const auto y = builder.add(graph::Activation{x, graph::ActivationFunction::kRelu});
  expect_error(backend->load(model_of(std::move(builder), y), "CPU", {}).status(), StatusCode::kUnsupported,
               "toy adds two inputs of f32; it does not compute 'activation' there");
  core::CompileOptions options;
  options.properties = {{"SPEED", "high"}};
  expect_error(backend->load(sum(), "CPU", options).status(), StatusCode::kUnsupported, "toy has no properties");
  options = {};
  options.precision = core::Precision::kBF16;
  expect_error(backend->load(sum(), "CPU", options).status(), StatusCode::kUnsupported,
               "toy:CPU computes in f32, but bf16 was requested");
  options.precision = core::Precision::kFast;
  expect_error(backend->load(sum(), "CPU", options).status(), StatusCode::kUnsupported, "but fast was requested");
  expect_error(backend->load(sum(), "TOASTER.7", {}).status(), StatusCode::kDeviceNotFound,
               "toy has no device 'TOASTER.7'; it has CPU");
}

TEST(ToyPluginTest, WritesIntoTheCallersMemoryAndRefusesWhatIsTooSmall) {
  const auto executable = load_in_mode("sum");
  Summands summands;
  std::array<float, 4> room{};
  OutputTensor output = OutputTensor::bound(room.data(), sizeof room);
  ASSERT_OK(executable->execute(summands.views, {&output, 1}, {}));
  EXPECT_THAT(room, ElementsAre(11, 22, 33, 44));
  OutputTensor small = OutputTensor::bound(room.data(), sizeof room - 1);
  expect_error(executable->execute(summands.views, {&small, 1}, {}), StatusCode::kBufferTooSmall, "output 'z'");
  expect_error(executable->execute(summands.views, {&small, 1}, within(milliseconds(10'000))),
               StatusCode::kBufferTooSmall, "needs 16 bytes");
  ASSERT_OK(run(*executable));
}

TEST(ToyPluginTest, GetsTensorsWithoutGapsAndAligned) {
  const auto executable = load_in_mode("sum");
  std::array<float, 8> wide{1, 0, 2, 0, 3, 0, 4, 0};
  Summands summands;
  summands.views[0].data = wide.data();
  summands.views[0].strides = {4, 2};
  std::array<std::byte, 17> shifted{};
  std::memcpy(shifted.data() + 1, summands.y.data(), 16);
  summands.views[1].data = shifted.data() + 1;
  OutputTensor output;
  ASSERT_OK(executable->execute(summands.views, {&output, 1}, {}));
  EXPECT_THAT(floats_of(output), ElementsAre(11, 22, 33, 44));
}

TEST(ToyPluginTest, EmptyTensorsAreComputed) {
  const auto executable = load_in_mode("sum");
  const TensorView empty{nullptr, ElementType::kF32, {0, 2}, std::nullopt};
  const std::array<TensorView, 2> inputs{empty, empty};
  OutputTensor output;
  ASSERT_OK(executable->execute(inputs, {&output, 1}, {}));
  EXPECT_EQ(output.view().shape, (Shape{0, 2}));
}

TEST(ToyPluginTest, IsAskedToStopAtTheDeadline) {
  for (const char* const mode : {"poll", "stop"}) {
    const auto executable = load_in_mode(mode);
    const Status status = run(*executable, within(milliseconds(20)));
    EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
    // It ends although nobody waits for it.
    while (executable->hung_runs() > 0)
      std::this_thread::yield();
  }
}

TEST(ToyPluginTest, SeesThatNobodyWaitsWithoutALimit) {
  const auto executable = load_in_mode("poll");
  const core::RunOptions options{.nobody_waits = core::Cancellation::create()};
  std::thread caller([&] { options.nobody_waits.request(); });
  expect_error(run(*executable, options), StatusCode::kCancelled, "toy was asked whether it is cancelled");
  caller.join();
}

TEST(ToyPluginTest, ARunThatDoesNotReturnIsAbandonedAndCounted) {
  const auto executable = load_in_mode("stuck", 1);
  const auto release = reinterpret_cast<void (*)(int)>(test::symbol_of_loaded(TOY_PLUGIN, "toy_release"));
  ASSERT_NE(release, nullptr);
  release(0);
  core::RunOptions options;
  options.run_timeout = milliseconds(20);
  expect_error(run(*executable, options), StatusCode::kDeviceFailed, "hung: toy:CPU did not finish within 20 ms");
  EXPECT_EQ(executable->hung_runs(), 1U);
  // The place is the abandoned run's.
  EXPECT_EQ(run(*executable, within(milliseconds(20))).code(), StatusCode::kDeviceFailed);
  release(1);
  while (executable->hung_runs() > 0)
    std::this_thread::yield();
  EXPECT_OK(run(*executable, within(milliseconds(10'000))));
}

TEST(ToyPluginTest, AFailedRunKeepsTheVendorsWordsAndTheModel) {
  const auto executable = load_in_mode("fail");
  const Status status = run(*executable);
  expect_error(status, StatusCode::kDeviceFailed, "toy fails, as it was told to");
  EXPECT_EQ(status.vendor_code(), 77);
  EXPECT_EQ(status.vendor_text(), "the vendor's own words");
  EXPECT_EQ(executable->spoiled_by(), 0U);
  expect_error(run(*executable), StatusCode::kDeviceFailed, "toy fails");
}

TEST(ToyPluginTest, ASpoiledModelIsLoadedAgain) {
  const auto executable = load_in_mode("spoil");
  expect_error(run(*executable), StatusCode::kDeviceFailed, "toy fails");
  EXPECT_EQ(executable->spoiled_by(), 1U);
  expect_error(run(*executable), StatusCode::kBusy, "must be loaded again");
}

TEST(ToyPluginTest, WrongOutputsAreNamed) {
  expect_error(run(*load_in_mode("forget")), StatusCode::kInternal,
               "toy returned from execute() without the output 'z', and reported no error");
  expect_error(run(*load_in_mode("twice")), StatusCode::kInternal, "output 'z' is prepared twice in one run");
  expect_error(run(*load_in_mode("type")), StatusCode::kInternal, "output 'z' is f32, but the run gives i32");
  expect_error(run(*load_in_mode("shape")), StatusCode::kInternal,
               "output 'z' has shape [?,2], but the run gives [3,3]");
}

TEST(ToyPluginTest, BlobsAreCompiledCheckedAndLoaded) {
  const auto backend = backend_in(TOY_PLUGIN);
  const auto blob = core::compile_blob(*backend, sum(), "CPU", {});
  ASSERT_OK(blob.status());
  EXPECT_EQ(blob->backend, "toy");
  EXPECT_EQ(blob->device, "CPU");
  EXPECT_EQ(blob->runtime_version, "1.5");
  EXPECT_EQ(blob->compatibility, "toy-1.5");
  const auto loaded = core::load_blob(*backend, *blob, "CPU", {});
  ASSERT_OK(loaded.status());
  EXPECT_TRUE((*loaded)->active().from_cache);
  Summands summands;
  OutputTensor output;
  ASSERT_OK((*loaded)->execute(summands.views, {&output, 1}, {}));
  EXPECT_THAT(floats_of(output), ElementsAre(11, 22, 33, 44));
  core::Blob other = *blob;
  other.compatibility = "toy-1.4";
  expect_error(core::check_blob(*backend, other, "CPU", {}), StatusCode::kIncompatibleBlob,
               "toy did not make this blob");
  other = *blob;
  other.backend = "native";
  expect_error(core::check_blob(*backend, other, "CPU", {}), StatusCode::kIncompatibleBlob,
               "made by native, not by toy");
  other = *blob;
  other.bytes.bytes = other.bytes.bytes.first(20);
  expect_error(core::load_blob(*backend, other, "CPU", {}).status(), StatusCode::kInvalidModel, "damaged");
}

TEST(ToyPluginTest, ALoadedModelIsExportedAlsoAfterItIsGone) {
  const auto backend = backend_in(TOY_PLUGIN);
  auto loaded = backend->load_exporting(sum(), "CPU", {});
  ASSERT_OK(loaded.status());
  loaded->executable.reset();
  ASSERT_TRUE(loaded->export_blob);
  const auto blob = loaded->export_blob();
  ASSERT_OK(blob.status());
  EXPECT_OK(core::load_blob(*backend, *blob, "CPU", {}).status());
}

TEST(ToyPluginTest, TensorsStayOnTheDevice) {
  const auto backend = backend_in(TOY_PLUGIN);
  const auto loaded = backend->load(sum(), "CPU", {});
  ASSERT_OK(loaded.status());
  auto& executable = dynamic_cast<PluginExecutable&>(**loaded);
  const auto memory = backend->create_buffer("CPU", 64);
  ASSERT_OK(memory.status());
  Summands summands;
  ASSERT_OK((*memory)->write(16, std::as_bytes(std::span(summands.x))));
  const TensorView shape{nullptr, ElementType::kF32, {2, 2}, std::nullopt};
  const PlacedTensor on_device{shape, *memory, 16};
  const PlacedTensor in_memory{summands.views[1]};
  const PlacedTensor to{shape, *memory, 32};
  for (const core::RunOptions& options : {core::RunOptions{}, within(milliseconds(10'000))}) {
    ASSERT_OK(executable.execute_to_buffers(std::array{on_device, in_memory}, std::array{to}, options));
    std::array<float, 4> read{};
    ASSERT_OK((*memory)->read(32, std::as_writable_bytes(std::span(read))));
    EXPECT_THAT(read, ElementsAre(11, 22, 33, 44));
  }
  // What one run wrote is what the next one reads.
  ASSERT_OK(executable.execute_to_buffers(std::array{to, in_memory}, std::array{to}, {}));
  std::array<float, 4> read{};
  ASSERT_OK((*memory)->read(32, std::as_writable_bytes(std::span(read))));
  EXPECT_THAT(read, ElementsAre(21, 42, 63, 84));
}

TEST(ToyPluginTest, RangesOutsideOfABufferAreRefused) {
  const auto backend = backend_in(TOY_PLUGIN);
  const auto loaded = backend->load(sum(), "CPU", {});
  ASSERT_OK(loaded.status());
  auto& executable = dynamic_cast<PluginExecutable&>(**loaded);
  const auto memory = backend->create_buffer("CPU", 16);
  ASSERT_OK(memory.status());
  std::array<float, 4> numbers{};
  expect_error((*memory)->write(4, std::as_bytes(std::span(numbers))), StatusCode::kInvalidArgument,
               "16 bytes from 4 on are not in a buffer of 16 bytes");
  expect_error((*memory)->read(20, {}), StatusCode::kInvalidArgument, "0 bytes from 20 on");
  const TensorView shape{nullptr, ElementType::kF32, {2, 2}, std::nullopt};
  const PlacedTensor good{shape, *memory, 0};
  const PlacedTensor beyond{shape, *memory, 4};
  const auto run = [&](std::vector<PlacedTensor> inputs, std::vector<PlacedTensor> outputs) {
    return executable.execute_to_buffers(inputs, outputs, {});
  };
  expect_error(run({good, beyond}, {good}), StatusCode::kInvalidArgument, "'y': 16 bytes from 4 on");
  expect_error(run({good, good}, {beyond}), StatusCode::kInvalidArgument, "'z'");
  expect_error(run({good}, {good}), StatusCode::kCountMismatch, "the model has 2 inputs, but 1 were given");
  expect_error(run({good, good}, {{shape}}), StatusCode::kInvalidArgument, "'z' is in no buffer");
  expect_error(run({good, {shape}}, {good}), StatusCode::kInvalidArgument, "'y' has no data");
  PlacedTensor wrong = good;
  wrong.view.shape = {3, 3};
  expect_error(run({good, wrong}, {good}), StatusCode::kShapeMismatch, "'y' has shape [?,2], but [3,3] was given");
  const auto other = backend_in(TOY_PLUGIN)->create_buffer("CPU", 16);
  ASSERT_OK(other.status());
  expect_error(run({good, {shape, *other, 0}}, {good}), StatusCode::kInvalidArgument, "a buffer of another backend");
}

TEST(ToyPluginTest, WhatItLogsAndReportsReachesTheHost) {
  std::vector<std::string> lines;
  auto sink = [&](core::LogLevel level, std::string_view text) {
    lines.push_back(std::string(level == core::LogLevel::kWarning ? "warning: " : "") + std::string(text));
  };
  core::set_log_sink(core::LogSink::to(sink));
  const auto diagnosis = backend_in(TOY_PLUGIN)->diagnosis(nullptr);
  core::set_log_sink({});
  EXPECT_THAT(lines, ElementsAre("warning: toy was diagnosed"));
  ASSERT_EQ(diagnosis.search.size(), 1U);
  EXPECT_EQ(diagnosis.search.front().place, "/opt/toy");
  EXPECT_EQ(diagnosis.unavailable.front().reason, "toy has none");
  EXPECT_EQ(diagnosis.install_hint, "nothing: toy is complete");
}

TEST(ToyPluginTest, ExecutablesAndBuffersOutliveTheBackend) {
  auto backend = backend_in(TOY_PLUGIN);
  const auto loaded = backend->load(sum(), "CPU", {});
  const auto memory = backend->create_buffer("CPU", 16);
  ASSERT_OK(loaded.status());
  ASSERT_OK(memory.status());
  backend.reset();
  EXPECT_OK(run(**loaded));
  std::array<float, 4> numbers{};
  EXPECT_OK((*memory)->read(0, std::as_writable_bytes(std::span(numbers))));
}

TEST(ToyPluginTest, SettingsAreChecked) {
  const auto with = [](const std::string& key, const std::string& text) {
    return backend_in(TOY_PLUGIN, {{key, text}})->available();
  };
  EXPECT_OK(with("mode", "sum"));
  EXPECT_OK(with("level", "9"));
  expect_error(with("mode", "summ"), StatusCode::kInvalidArgument, "plugin.toy.mode 'summ' (did you mean sum?)");
  expect_error(with("level", "10"), StatusCode::kInvalidArgument,
               "plugin.toy.level must be a whole number from 0 to 9, not '10'");
  expect_error(with("modes", "sum"), StatusCode::kInvalidArgument, "setting of toy 'modes' (did you mean mode?)");
}

TEST(ToyPluginTest, TheNameIsTheOneThatItWasAskedFor) {
  expect_error(backend_in(TOY_PLUGIN, {}, "tin")->available(), StatusCode::kLibraryUnusable,
               "the library of the backend tin says that its name is toy");
}

TEST(ToyPluginTest, NothingIsOpenedBeforeTheFirstQuestionAndFailuresAreNotKept) {
  int opened = 0;
  PluginBackend backend({.name = "toy",
                         .open = [&]() -> Result<PluginPointer> {
                           if (++opened == 1) return Status(StatusCode::kLibraryNotFound, "not there yet");
                           return load_plugin(TOY_PLUGIN);
                         }},
                        {});
  EXPECT_EQ(backend.name(), "toy");
  EXPECT_NE(backend.capabilities().blobs, nullptr);
  EXPECT_EQ(opened, 0);
  expect_error(backend.available(), StatusCode::kLibraryNotFound, "not there yet");
  EXPECT_OK(backend.available());
  EXPECT_OK(backend.devices().status());
  EXPECT_EQ(opened, 2);
}

}  // namespace
}  // namespace latebind::plugin::testing
