#include "tests/conformance/conformance.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "backends/native/backend.h"
#include "backends/onnxruntime/backend.h"
#include "backends/openvino/backend.h"
#include "backends/plugin/backend.h"
#include "core/platform/environment.h"
#include "core/vendor/vendor_call.h"

namespace latebind::test {
namespace {

constexpr std::string_view kPlugin = "plugin:";

// The environment that scripts/setup makes. A variable wins over it.
std::string library_of(const char* variable) {
  if (platform::environment(variable)) return {};
  return std::string(LATEBIND_SOURCE_DIR) + "/build/runtime/venv";
}

std::shared_ptr<core::Backend> plugin_backend(const std::string& name, const char* file,
                                              core::BackendSettingTexts settings) {
  return std::make_shared<plugin::PluginBackend>(
      plugin::PluginSource{.name = name, .open = [file] { return plugin::load_plugin(file); }}, std::move(settings));
}

std::vector<std::string> backends_under_test() {
  std::string names = platform::environment("LATEBIND_CONFORMANCE_BACKENDS").value_or("openvino,onnxruntime,native");
  std::vector<std::string> result;
  while (!names.empty()) {
    const auto comma = names.find(',');
    result.push_back(names.substr(0, comma));
    names.erase(0, comma == std::string::npos ? names.size() : comma + 1);
  }
  return result;
}

std::vector<Target> targets() {
  std::vector<Target> result;
  for (const std::string& name : backends_under_test()) {
    const auto add = [&](const std::string& device, const std::string& problem) {
      result.push_back({name, device, problem, name.substr(name.starts_with(kPlugin) ? kPlugin.size() : 0)});
    };
    const auto backend = make_test_backend(name);
    if (backend == nullptr) {
      add("", "LATEBIND_CONFORMANCE_BACKENDS names no backend of this build");
      continue;
    }
    const auto devices = backend->devices();
    if (!devices.ok()) {
      add("", devices.status().to_string());
      continue;
    }
    if (devices->empty()) add("", "the backend has no device");
    for (const core::Device& device : *devices) {
      if (!device.is_virtual()) add(device.name, "");
    }
  }
  return result;
}

std::vector<Target> targets_that_read_models() {
  std::vector<Target> result = targets();
  std::erase_if(result, [](const Target& target) { return target.backend == native::kBackendName; });
  return result;
}

std::string name_of(const testing::TestParamInfo<Target>& info) {
  std::string name = info.param.made_by + "_" + (info.param.device.empty() ? "absent" : info.param.device);
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Backends, ConformanceTest, testing::ValuesIn(targets_that_read_models()), name_of);
INSTANTIATE_TEST_SUITE_P(Backends, GraphConformanceTest, testing::ValuesIn(targets()), name_of);
// LATEBIND_CONFORMANCE_BACKENDS may name only `native`.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ConformanceTest);

std::shared_ptr<core::Backend> make_test_backend(const std::string& name) {
  if (name == "openvino") {
    return openvino::make_backend({.library_path = library_of("LATEBIND_OPENVINO_LIBRARY")});
  }
  if (name == "onnxruntime") {
    return onnxruntime::make_backend({.library_path = library_of("LATEBIND_ONNXRUNTIME_LIBRARY")});
  }
  if (name == native::kBackendName) return native::configured_backend({});
  if (name == "plugin:native") return plugin_backend(native::kBackendName, LATEBIND_BACKEND_NATIVE, {});
  if (name == "plugin:openvino") {
    const std::string library = library_of("LATEBIND_OPENVINO_LIBRARY");
    return plugin_backend(
        "openvino", LATEBIND_BACKEND_OPENVINO,
        library.empty() ? core::BackendSettingTexts() : core::BackendSettingTexts{{"library", library}});
  }
  return nullptr;
}

void ConformanceTest::SetUp() {
  ASSERT_EQ(GetParam().problem, "") << "run scripts/setup, or set the backend's variable to another library";
  backend_ = make_test_backend(GetParam().made_by);
}

void ConformanceTest::TearDown() {
  while (core::given_up_calls() != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

core::Result<std::unique_ptr<core::Executable>> ConformanceTest::try_load(const core::Model& model,
                                                                          const core::CompileOptions& options) const {
  auto loaded = backend_->load(model, GetParam().device, options);
  const core::ModelForm* form = model.find(core::ModelFormat::kOnnx);
  if (const auto folder = platform::environment("LATEBIND_CONFORMANCE_KEEP");
      folder && loaded.ok() && form != nullptr && !form->graph.bytes.empty() && form->external.empty()) {
    static int number = 0;
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string name = test.substr(0, test.find('/')) + "-" + std::to_string(++number) + ".onnx";
    std::ofstream(std::filesystem::path(*folder) / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(form->graph.bytes.data()),
               static_cast<std::streamsize>(form->graph.bytes.size()));
  }
  return loaded;
}

std::unique_ptr<core::Executable> ConformanceTest::load(const core::Model& model,
                                                        const core::CompileOptions& options) const {
  auto loaded = try_load(model, options);
  EXPECT_OK(loaded.status());
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

bool ConformanceTest::refuses_operator(const Status& status, const std::string& name) const {
  if (status.ok() || GetParam().device == "CPU") return false;
  expect_words(status, StatusCode::kUnsupported, {"onnxruntime:" + GetParam().device, name});
  return true;
}

void ConformanceTest::expect_to_name_the_device(const core::ActiveConfig& active, unsigned requests) const {
  EXPECT_EQ(active.backend, GetParam().backend);
  EXPECT_EQ(active.device, GetParam().device);
  EXPECT_NE(active.device_full_name, "");
  EXPECT_EQ(active.runtime_version, *backend_->runtime_version());
  EXPECT_EQ(active.precision, core::Precision::kF32);
  EXPECT_EQ(active.requests, requests);
}

OnnxBuilder doubling_model(const OnnxDims& dims) {
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, dims).output("y", ElementType::kF32, dims).node("Add", {"x", "x"}, {"y"});
  return builder;
}

OnnxBuilder slow_model() {
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {"n", "n"}).output("y", ElementType::kF32, {"n", "n"});
  constexpr int kProducts = 400;
  std::string last = "x";
  for (int i = 0; i < kProducts; ++i) {
    const std::string next = i + 1 < kProducts ? "t" + std::to_string(i) : "y";
    builder.node("MatMul", {last, "x"}, {next});
    last = next;
  }
  return builder;
}

Tensor<float> large_input() {
  const auto edge = std::stoll(platform::environment("LATEBIND_CONFORMANCE_EDGE").value_or("512"));
  return {Shape{edge, edge}, std::vector<float>(static_cast<std::size_t>(edge * edge), 0.0F)};
}

core::RunOptions within(std::chrono::milliseconds time) {
  core::RunOptions options;
  options.deadline = std::chrono::steady_clock::now() + time;
  return options;
}

void expect_words(const Status& status, StatusCode code, std::initializer_list<std::string> words) {
  EXPECT_EQ(status.code(), code) << status.to_string();
  for (const std::string& word : words) {
    EXPECT_NE(status.to_string().find(word), std::string::npos) << "'" << word << "' is not in: " << status.to_string();
  }
}

Tensor<float> counting(const Shape& shape) {
  Tensor<float> tensor{shape, std::vector<float>(*shape.element_count())};
  std::iota(tensor.values.begin(), tensor.values.end(), 0.0F);
  return tensor;
}

Status run(core::Executable& executable, const TensorView& input, OutputTensor& output,
           const core::RunOptions& options) {
  return executable.execute({&input, 1}, {&output, 1}, options);
}

testing::AssertionResult doubles(core::Executable& executable, const Shape& shape) {
  auto input = counting(shape);
  OutputTensor output;
  if (const auto status = run(executable, input.view(ElementType::kF32), output); !status.ok()) {
    return testing::AssertionFailure() << status.to_string();
  }
  if (output.view().type != ElementType::kF32 || !(output.view().shape == shape)) {
    return testing::AssertionFailure() << "expected f32 " << shape.to_string() << ", got "
                                       << core::name_of(output.view().type) << " " << output.view().shape.to_string();
  }
  for (float& value : input.values)
    value += value;
  if (values_of<float>(output) != input.values) return testing::AssertionFailure() << "wrong values";
  return testing::AssertionSuccess();
}

}  // namespace latebind::test
