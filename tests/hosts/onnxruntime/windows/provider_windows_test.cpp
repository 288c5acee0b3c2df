// The provider for Windows in ONNX Runtime for Windows: what runs, and Intel's NPUs, whose compiler is only there.
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "core/platform/files/temporary_folder.h"
#include "hosts/onnxruntime/json_text.h"
#include "latebind/latebind.hpp"
#include "tests/hosts/onnxruntime/host/fixture.h"

namespace latebind::test {
namespace {

// The default model as ONNX.
void export_model(const std::filesystem::path& file) {
  auto runtime = Runtime::create({});
  ASSERT_TRUE(runtime.ok());
  const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/build/runtime/model/all-MiniLM-L6-v2";
  auto job = runtime->start("export", "{\"model\":" + provider::json_quoted(folder) +
                                          ",\"output\":" + provider::json_quoted(platform::path_to_utf8(file)) + "}");
  ASSERT_TRUE(job.ok()) << job.status().message();
  const auto waited = job->wait(std::chrono::minutes(2));
  ASSERT_TRUE(waited.ok()) << waited.status().message();
  const auto result = job->result();
  ASSERT_TRUE(result.ok()) << result.status().message();
}

TEST_F(OnnxruntimeHostTest, RunsAModelOnWindows) {
  register_as("latebind");
  const auto ours = devices();
  ASSERT_FALSE(ours.empty());
  OrtSession* session = nullptr;
  ASSERT_EQ(session_error(ours, nullptr, nullptr, &session), "");
  expect_right(session);
  EXPECT_NE(attestations().find("\"device\": \"openvino:CPU\""), std::string::npos) << attestations();
  api().ReleaseSession(session);
}

TEST_F(OnnxruntimeHostTest, TheDefaultModelIsCompiledForEachOfIntelsNpus) {
  register_as("latebind.virtual");
  std::set<std::string> names;
  std::vector<const OrtEpDevice*> npus;
  for (const OrtEpDevice* device : devices()) {
    const std::string name = of_device(device, "latebind.device");
    if (!is_virtual(device) || !name.starts_with("openvino:NPU.")) continue;
    EXPECT_EQ(of_device(device, "latebind.compiler_installed"), "1");
    names.insert(name);
    npus.push_back(device);
  }
  EXPECT_EQ(names, (std::set<std::string>{"openvino:NPU.3720", "openvino:NPU.4000", "openvino:NPU.5010",
                                          "openvino:NPU.5020"}));
  const auto folder = platform::TemporaryFolder::create("test");
  ASSERT_TRUE(folder.ok());
  const auto file = folder->path() / "model.onnx";
  ASSERT_NO_FATAL_FAILURE(export_model(file));
  const auto compiled = folder->path() / "compiled.onnx";
  OrtSessionOptions* options =
      options_for(npus, {}, {{"ep.context_enable", "1"}, {"ep.context_file_path", platform::path_to_utf8(compiled)}});
  // The compiler wants shapes.
  ASSERT_FINE(api().AddFreeDimensionOverrideByName(options, "batch", 1));
  ASSERT_FINE(api().AddFreeDimensionOverrideByName(options, "tokens", 128));
  OrtSession* session = nullptr;
  ASSERT_FINE(api().CreateSession(env_, file.c_str(), options, &session));
  api().ReleaseSession(session);
  api().ReleaseSessionOptions(options);
  std::ifstream in(folder->path() / "compiled_latebind_0.lbundle", std::ios::binary);
  const std::string bundle{std::istreambuf_iterator<char>(in), {}};
  for (const std::string& name : names)
    EXPECT_NE(bundle.find("npu=" + name.substr(name.find('.') + 1)), std::string::npos) << name;
  // What it wrote runs on the processor as well, by the portable model.
  std::vector<const OrtEpDevice*> here;
  for (const OrtEpDevice* device : devices())
    if (!is_virtual(device)) here.push_back(device);
  options = options_for(here);
  ASSERT_FINE(api().CreateSession(env_, compiled.c_str(), options, &session));
  api().ReleaseSessionOptions(options);
  api().ReleaseSession(session);
}

}  // namespace
}  // namespace latebind::test
