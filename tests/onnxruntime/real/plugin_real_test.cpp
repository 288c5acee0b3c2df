// Plugin providers on the real ONNX Runtime: fakes that go wrong in every way, Intel's, and Qualcomm's, whose compiler
// and emulator show the NPU's way to be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "backends/onnxruntime/backend.h"
#include "backends/onnxruntime/context_model.h"
#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/load.h"
#include "backends/onnxruntime/plugin_providers.h"
#include "backends/onnxruntime/provider_trial.h"
#include "core/backend/questions.h"
#include "core/engine/engine.h"
#include "core/platform/files/temporary_folder.h"
#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/vectors.h"

namespace latebind::onnxruntime {
namespace {

namespace fs = std::filesystem;
using core::Blob;
using core::CompileOptions;
using core::DeviceKind;
using core::ElementType;
using core::OutputTensor;
using core::Precision;
using core::Shape;
using core::StatusCode;
using core::TensorView;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kDimension = 384;
constexpr std::size_t kTokens = 32;

const fs::path kSource = LATEBIND_SOURCE_DIR;
const fs::path kRuntime = kSource / "build/runtime";
const fs::path kModel = kRuntime / "model/all-MiniLM-L6-v2";

// A file below build/runtime whose name begins so.
std::string file_in(const fs::path& folder, const std::string& begin) {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().filename().string().starts_with(begin)) return file.path().string();
  }
  ADD_FAILURE() << "no " << begin << "* in " << folder << ": run scripts/setup runtime test";
  return {};
}

std::string runtime_library() {
  if (const char* named = std::getenv("LATEBIND_ONNXRUNTIME_LIBRARY")) {
    return fs::is_directory(named) ? file_in(named, "onnxruntime.dll") : named;
  }
  for (const auto& python : fs::directory_iterator(kRuntime / "venv/lib")) {
    return file_in(python.path() / "site-packages/onnxruntime/capi", "libonnxruntime.so");
  }
  return {};
}

std::string fake(const std::string& variant) {
  return std::string(LATEBIND_FAKES) + "/libonnxruntime_providers_" + variant + ".so";
}

std::string vendors(const std::string& package, const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(kRuntime / "providers")) {
    if (entry.path().filename().string().starts_with(package)) return (entry.path() / folder).string();
  }
  return {};
}
std::string qualcomm() {
  return vendors("onnxruntime-qnn-", "onnxruntime_qnn");
}
std::string intel() {
  return vendors("onnxruntime-ep-openvino-", "onnxruntime_ep_openvino");
}

class PluginTest : public ::testing::Test {
 protected:
  std::shared_ptr<core::Backend> backend_with(std::vector<std::string> providers,
                                              const std::string& program = LATEBIND_PROGRAM) {
    return make_backend({.library_path = runtime_library(),
                         .provider_paths = std::move(providers),
                         .trial_program = program,
                         .memory_folder = memory_.path()});
  }
  [[nodiscard]] std::string remembered() const {
    std::ifstream file(memory_.path() / "providers.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  platform::TemporaryFolder memory_ = *platform::TemporaryFolder::create("plugin-test");
};

std::vector<std::string> names_of(const core::Result<std::vector<core::Device>>& devices) {
  EXPECT_TRUE(devices.ok()) << devices.status().to_string();
  std::vector<std::string> names;
  if (!devices.ok()) return names;
  for (const auto& device : *devices)
    names.push_back(device.name);
  return names;
}

TEST_F(PluginTest, OneThatCrashesIsAReasonAndIsNotTriedAgain) {
  auto backend = backend_with({fake("crashing")});
  EXPECT_THAT(names_of(backend->devices()), ElementsAre("CPU"));
  auto parts = backend->diagnosis(nullptr).unavailable;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].name, "crashing");
  EXPECT_THAT(parts[0].reason, AllOf(HasSubstr("crashed with signal 11"), HasSubstr("providers.json")));
  EXPECT_THAT(remembered(), HasSubstr("crashed with signal 11"));
  // Without a program to try it with, only what is remembered can tell.
  backend = backend_with({fake("crashing")}, "/nonexistent/latebind");
  parts = backend->diagnosis(nullptr).unavailable;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_THAT(parts[0].reason, HasSubstr("crashed with signal 11"));
}

TEST_F(PluginTest, OneThatHangsIsAReason) {
  TrialOptions options;
  options.program = LATEBIND_PROGRAM;
  options.folder = memory_.path();
  options.time = std::chrono::milliseconds(1500);
  const auto status = try_provider(options, runtime_library(), "any", fake("hanging"));
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("did not end in time"));
  // A machine may have been busy.
  EXPECT_EQ(remembered(), "");
}

TEST_F(PluginTest, ATrialThatTookLongerThanItsRefusalHoldsIsNotMadeAgainByTheNextQuestion) {
  using std::chrono::milliseconds;
  auto library = open_library(runtime_library());
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  const auto environment = Environment::create(*std::move(library));
  ASSERT_TRUE(environment.ok()) << environment.status().to_string();
  PluginOptions options;
  options.paths = {fake("hanging")};
  options.trial = {.program = LATEBIND_PROGRAM, .folder = memory_.path(), .time = milliseconds(3000)};
  options.refusal_time = milliseconds(2000);
  PluginProviders providers(*environment, options);
  EXPECT_TRUE(providers.devices().empty());
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(providers.devices().empty());
  EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(1500));
}

TEST_F(PluginTest, OneThatRefusesIsQuotedAndAskedAgain) {
  const auto backend = backend_with({fake("refusing")});
  EXPECT_THAT(names_of(backend->devices()), ElementsAre("CPU"));
  const auto parts = backend->diagnosis(nullptr).unavailable;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_THAT(parts[0].reason, HasSubstr("the fake wants another machine"));
  EXPECT_THAT(remembered(), Not(HasSubstr("refusing")));
}

TEST_F(PluginTest, OneThatHasNothingSaysSo) {
  const auto backend = backend_with({fake("empty")});
  EXPECT_THAT(names_of(backend->devices()), ElementsAre("CPU"));
  const auto parts = backend->diagnosis(nullptr).unavailable;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_THAT(parts[0].reason, HasSubstr("offers no device on this machine"));
}

TEST_F(PluginTest, WithoutAProgramToTryItWithAProviderIsRefused) {
  const auto backend = backend_with({fake("fake")}, "/nonexistent/latebind");
  EXPECT_THAT(names_of(backend->devices()), ElementsAre("CPU"));
  const auto parts = backend->diagnosis(nullptr).unavailable;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_THAT(parts[0].reason, HasSubstr("/nonexistent/latebind"));
  EXPECT_EQ(remembered(), "");
}

TEST_F(PluginTest, AnyProvidersDevicesAreDevicesWithItsMetadata) {
  const auto backend = backend_with({fake("fake")});
  const auto devices = backend->devices();
  ASSERT_THAT(names_of(devices), ElementsAre("CPU", "Fake.CPU.0", "Fake.CPU.1"));
  const auto& cpu = devices->at(1);
  EXPECT_EQ(cpu.id(), "onnxruntime:Fake.CPU.0");
  EXPECT_EQ(cpu.kind, DeviceKind::kCpu);
  EXPECT_FALSE(cpu.is_virtual());
  EXPECT_EQ(cpu.facts().at("Provider"), "FakeExecutionProvider");
  EXPECT_EQ(cpu.metadata.at("ProviderVersion"), "7.8.9");
  EXPECT_EQ(cpu.metadata.at("ProviderLibrary"), fake("fake"));
  EXPECT_EQ(cpu.metadata.at("Vendor"), "Fakes, Ltd.");

  const auto others = core::virtual_devices_of(*backend);
  ASSERT_THAT(names_of(others), Contains("Fake.NPU"));
  const auto& npu = others->front();
  EXPECT_TRUE(npu.is_virtual());
  EXPECT_EQ(npu.kind, DeviceKind::kNpu);
  EXPECT_EQ(npu.facts().at("DiscoveredBy"), "onnxruntime");
  EXPECT_EQ(npu.metadata.at("Colour"), "red, green");
  EXPECT_EQ(npu.metadata.at("HardwareDeviceId"), "0x0017");

  // What it cannot do is its own word, and no other device does it instead.
  const auto model = test::OnnxBuilder()
                         .input("x", ElementType::kF32, {2})
                         .node("Add", {"x", "x"}, {"y"})
                         .output("y", ElementType::kF32, {2})
                         .model();
  const auto loaded = backend->load(model, "Fake.CPU.1", {});
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.status().to_string(), HasSubstr("the fake runs nothing"));
  EXPECT_EQ(backend->load(model, "Fake.CPU.2", {}).status().code(), StatusCode::kDeviceNotFound);
}

TEST_F(PluginTest, TwoBackendsOfOneProcessShareAProvider) {
  const auto first = backend_with({fake("fake")});
  const auto second = backend_with({fake("fake")});
  EXPECT_EQ(names_of(first->devices()), names_of(second->devices()));
  EXPECT_EQ(names_of(first->devices()).size(), 3U);
}

TEST_F(PluginTest, TheTraceSaysWhatBecameOfEachPlace) {
  const auto backend = backend_with({fake("empty"), "/nonexistent/provider.so"});
  std::vector<std::string> lines;
  for (const auto& step : backend->diagnosis(nullptr).search)
    lines.push_back(step.place + ": " + step.outcome);
  EXPECT_THAT(lines, Contains(fake("empty") + ": registered, 0 devices"));
  EXPECT_THAT(lines, Contains("/nonexistent/provider.so: does not exist"));
}

TEST_F(PluginTest, IntelsPluginSaysThatItHasNothingForThisMachine) {
  const auto backend = backend_with({intel()});
  const auto names = names_of(backend->devices());
  const auto parts = backend->diagnosis(nullptr).unavailable;
  // On a machine of Intel's it has devices.
  if (names.size() > 1) {
    EXPECT_THAT(parts, ::testing::IsEmpty());
    return;
  }
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].name, "OpenVINOExecutionProvider");
  EXPECT_THAT(parts[0].reason, HasSubstr("offers no device on this machine"));
}

// --- Qualcomm ---

using latebind::test::cosine;

struct GoldenText {
  std::string text;
  std::vector<float> vector;
};

// Some short texts, and what sentence-transformers makes of them.
std::vector<GoldenText> golden(std::size_t from, std::size_t count) {
  std::vector<GoldenText> result;
  std::ifstream lines(kSource / "tests/data/golden/minilm.jsonl");
  std::ifstream npy(kSource / "tests/data/golden/minilm.npy", std::ios::binary);
  char head[10] = {};
  npy.read(head, sizeof head);
  npy.seekg(10 + static_cast<unsigned char>(head[8]) + 256 * static_cast<unsigned char>(head[9]));
  for (std::string line; std::getline(lines, line) && result.size() < from + count;) {
    GoldenText one{nlohmann::json::parse(line)["text"], std::vector<float>(kDimension)};
    npy.read(reinterpret_cast<char*>(one.vector.data()), kDimension * sizeof(float));
    result.push_back(std::move(one));
  }
  EXPECT_TRUE(npy.good());
  result.erase(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(from));
  return result;
}

class QualcommTest : public PluginTest {
 protected:
  void SetUp() override {
    backend = backend_with({qualcomm()});
    const auto folder = embedding::ModelFolder::open(kModel);
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    auto built = embedding::build_model(folder->documents());
    ASSERT_TRUE(built.ok()) << built.status().to_string();
    model = std::make_unique<core::Model>(built->model);
    options.precision = Precision::kF16;
    options.input_shapes = {Shape{1, kTokens}, Shape{1, kTokens}};
  }

  static CompileOptions emulated() {
    CompileOptions result;
    result.precision = Precision::kF16;
    result.emulate = true;
    return result;
  }

  static std::vector<float> embed(core::Executable& executable, const std::string& text) {
    static const auto tokenizer = embedding::Tokenizer::from_file(kModel / "tokenizer.json");
    std::vector<std::int32_t> tokens;
    EXPECT_TRUE(tokenizer->encode(text, kTokens, tokens).ok());
    std::vector<std::int64_t> ids(kTokens, 0);
    std::vector<std::int64_t> mask(kTokens, 0);
    std::copy(tokens.begin(), tokens.end(), ids.begin());
    std::fill_n(mask.begin(), tokens.size(), 1);
    std::vector<TensorView> inputs(2);
    inputs[0] = {.data = ids.data(), .type = ElementType::kI64, .shape = Shape{1, kTokens}, .strides = std::nullopt};
    inputs[1] = {.data = mask.data(), .type = ElementType::kI64, .shape = Shape{1, kTokens}, .strides = std::nullopt};
    std::vector<float> vector(kDimension);
    OutputTensor output = OutputTensor::bound(vector.data(), vector.size() * sizeof(float));
    const auto status = executable.execute(inputs, {&output, 1}, {});
    EXPECT_TRUE(status.ok()) << status.to_string();
    return vector;
  }

  std::shared_ptr<core::Backend> backend;
  std::unique_ptr<core::Model> model;
  CompileOptions options;
};

TEST_F(QualcommTest, ItsNpusAreVirtualDevicesWithTheirCompiler) {
  const auto devices = core::virtual_devices_of(*backend);
  EXPECT_THAT(names_of(devices), ElementsAre("QNN.v68", "QNN.v69", "QNN.v73", "QNN.v75", "QNN.v79", "QNN.v81"));
  for (const auto& device : *devices) {
    EXPECT_EQ(device.facts().at("CompilerInstalled"), "1");
    EXPECT_EQ(device.facts().at("Emulated"), "1");
    EXPECT_TRUE(fs::exists(device.metadata.at("Compiler")));
  }
}

TEST_F(QualcommTest, ItsCpuIsThereForItsTargetsOnly) {
  EXPECT_THAT(names_of(backend->devices()), ElementsAre("CPU"));
  const auto parts = backend->diagnosis(nullptr).unavailable;
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].name, "QNN");
  EXPECT_THAT(parts[0].reason, AllOf(HasSubstr("does not run models"), HasSubstr("QNN.v68, QNN.v69")));
  const auto loaded = backend->load(*model, "QNN", {});
  EXPECT_EQ(loaded.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(loaded.status().to_string(), HasSubstr("does not run models"));
  core::Registry registry;
  ASSERT_TRUE(registry.add(backend).ok());
  for (const char* all : {"auto", "cpu", "onnxruntime"}) {
    for (const auto& candidate : core::Placement::parse(all, registry)->resolve(registry)) {
      EXPECT_TRUE(candidate.device && candidate.device->name == "CPU") << all;
    }
  }
  const auto named = core::Placement::parse("onnxruntime:QNN", registry)->resolve(registry);
  ASSERT_EQ(named.size(), 1U);
  EXPECT_FALSE(named[0].device);
  EXPECT_THAT(named[0].refusal.reason, HasSubstr("does not run models"));
}

TEST_F(QualcommTest, WithoutTheProviderTheDevicesSayWhatToInstall) {
  const auto devices = core::virtual_devices_of(*backend_with({"none"}));
  ASSERT_EQ(names_of(devices).size(), 6U);
  EXPECT_EQ(devices->front().facts().at("CompilerInstalled"), "0");
  EXPECT_THAT(devices->front().facts().at("Missing"), HasSubstr("latebind/runtime onnxruntime-qnn"));
  const auto blob = core::compile_blob(*backend_with({"none"}), *model, "QNN.v73", options);
  EXPECT_EQ(blob.status().code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(blob.status().to_string(), HasSubstr("latebind/runtime onnxruntime-qnn"));
}

class QualcommTargetTest : public QualcommTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(QualcommTargetTest, TheModelBecomesOneContextAndTheSameBytesTwice) {
  const auto blob = core::compile_blob(*backend, *model, "QNN." + GetParam(), options);
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  const auto made = read_context_model(blob->bytes.bytes);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->contexts, 1U);
  EXPECT_EQ(made->others.count, 0U);
  EXPECT_EQ(blob->device, "QNN." + GetParam());
  EXPECT_EQ(blob->precision, Precision::kF16);
  EXPECT_THAT(blob->compatibility, HasSubstr(":" + GetParam().substr(1) + ":"));

  const auto again = core::compile_blob(*backend, *model, "QNN." + GetParam(), options);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_TRUE(std::ranges::equal(blob->bytes.bytes, again->bytes.bytes));
}

INSTANTIATE_TEST_SUITE_P(Npus, QualcommTargetTest, ::testing::Values("v68", "v73", "v75", "v79"),
                         [](const auto& one) { return one.param; });

TEST_F(QualcommTest, ABlobRunInEmulationGivesTheVectorsOfTheReference) {
  const auto blob = core::compile_blob(*backend, *model, "QNN.v73", options);
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  const auto executable = core::load_blob(*backend, *blob, "QNN.v73", emulated());
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  const auto& active = (*executable)->active();
  EXPECT_EQ(active.device, "QNN.v73");
  EXPECT_EQ(active.device_full_name, "Qualcomm Hexagon v73 (Snapdragon X Elite)");
  EXPECT_EQ(active.precision, Precision::kF16);
  EXPECT_TRUE(active.emulated);
  EXPECT_TRUE(active.from_cache);
  for (const GoldenText& one : golden(3, 3)) {
    EXPECT_GE(cosine(embed(**executable, one.text), one.vector), 0.999) << one.text;
  }

  // It is of no use for anything else.
  const auto refused = [&](const Blob& what, const std::string& device, const CompileOptions& how) {
    const auto loaded = core::load_blob(*backend, what, device, how);
    EXPECT_FALSE(loaded.ok());
    return loaded.status();
  };
  EXPECT_EQ(refused(*blob, "QNN.v75", emulated()).code(), StatusCode::kIncompatibleBlob);
  Blob relabelled = *blob;
  relabelled.device = "QNN.v75";
  EXPECT_EQ(refused(relabelled, "QNN.v75", emulated()).code(), StatusCode::kIncompatibleBlob);
  // The label alone says so.
  EXPECT_TRUE(core::check_blob(*backend, *blob, "QNN.v73", emulated()).ok());
  EXPECT_EQ(core::check_blob(*backend, *blob, "QNN.v75", emulated()).code(), StatusCode::kIncompatibleBlob);
  const auto judged = core::check_blob(*backend, relabelled, "QNN.v75", emulated());
  EXPECT_EQ(judged.code(), StatusCode::kIncompatibleBlob);
  EXPECT_THAT(judged.to_string(), HasSubstr("the blob was made for '" + blob->compatibility + "'"));
  EXPECT_EQ(refused(*blob, "CPU", emulated()).code(), StatusCode::kIncompatibleBlob);
  CompileOptions allowed = emulated();
  allowed.emulate = false;
  const auto status = refused(*blob, "QNN.v73", allowed);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.to_string(), AllOf(HasSubstr("is a virtual device"), HasSubstr("--emulate")));
  Blob damaged = *blob;
  damaged.bytes.bytes = damaged.bytes.bytes.first(damaged.bytes.bytes.size() / 2);
  EXPECT_EQ(refused(damaged, "QNN.v73", emulated()).code(), StatusCode::kIncompatibleBlob);
  damaged = *blob;
  damaged.compatibility = "v2:6:9.99.0:9.99.0:75:57:0:0";
  EXPECT_EQ(refused(damaged, "QNN.v73", emulated()).code(), StatusCode::kIncompatibleBlob);
}

TEST_F(QualcommTest, APlacementThatNamesItRunsItInEmulationOnlyWhenAllowed) {
  core::Registry registry;
  ASSERT_TRUE(registry.add(backend).ok());
  const auto placement = core::Placement::parse("onnxruntime:QNN.v73", registry);
  ASSERT_TRUE(placement.ok());
  core::LoadOptions load;
  load.compile = options;
  auto placed = core::Engine(registry).load(*model, *placement, load);
  ASSERT_FALSE(placed.ok());
  EXPECT_THAT(placed.status().to_string(),
              HasSubstr("is not in this machine; --emulate runs it in its vendor's emulator"));
  load.compile.emulate = true;
  placed = core::Engine(registry).load(*model, *placement, load);
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_TRUE((*placed)->attestation()->active.emulated);
  EXPECT_FALSE((*placed)->attestation()->fallback);
}

TEST_F(QualcommTest, RefusesWhatItCannotHonour) {
  EXPECT_THAT(core::compile_blob(*backend, *model, "QNN.v99", options).status().to_string(),
              AllOf(HasSubstr("v99"), HasSubstr("v68, v69, v73, v75, v79, v81")));
  CompileOptions f32 = options;
  f32.precision = Precision::kF32;
  EXPECT_THAT(core::compile_blob(*backend, *model, "QNN.v73", f32).status().to_string(),
              HasSubstr("computes in f16, not in f32"));
  EXPECT_EQ(backend->load(*model, "QNN.v73", f32).status().code(), StatusCode::kUnsupported);
}

TEST_F(QualcommTest, NodesThatAreLeftToTheCpuAreNamed) {
  const auto split = test::OnnxBuilder()
                         .input("x", ElementType::kF32, {2, 4})
                         .node("Add", {"x", "x"}, {"sum"})
                         .node("NonZero", {"sum"}, {"places"})
                         .output("sum", ElementType::kF32, {2, 4})
                         .output("places", ElementType::kI64, {2, ""})
                         .model();
  CompileOptions plain;
  plain.precision = Precision::kF16;
  core::LeftNodes left;
  const auto blob = core::compile_blob(*backend, split, "QNN.v73", plain, &left);
  EXPECT_EQ(left, (core::LeftNodes{1, {{"NonZero", "NonZero_1", "i64 [2,?]"}}}));
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(blob.status().to_string(), HasSubstr("NonZero (NonZero_1)"));
  plain.host_nodes = core::HostNodes::kAny;
  const auto allowed = core::compile_blob(*backend, split, "QNN.v73", plain);
  ASSERT_TRUE(allowed.ok()) << allowed.status().to_string();
  EXPECT_EQ(read_context_model(allowed->bytes.bytes)->others.count, 1U);
  // Of a model with open shapes nothing can be compiled.
  CompileOptions open = options;
  open.input_shapes.clear();
  const auto dynamic = core::compile_blob(*backend, *model, "QNN.v73", open);
  ASSERT_FALSE(dynamic.ok());
  EXPECT_THAT(dynamic.status().to_string(), HasSubstr("static input shapes may help"));
}

}  // namespace
}  // namespace latebind::onnxruntime
