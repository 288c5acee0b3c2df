// ONNX Runtime from its wheel, used by its C interface alone, as anybody would: what the tests here share.
#pragma once

#include <gtest/gtest.h>
#include <onnxruntime_c_api.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"
#include "tests/support/onnx_builder.h"

namespace latebind::test {

using Texts = std::map<std::string, std::string>;

// The newest that is installed, or the one that the environment names (scripts/test --matrix).
inline const char* library_file() {
  const char* named = std::getenv("LATEBIND_TEST_ONNXRUNTIME");
  return named != nullptr ? named : LATEBIND_TEST_ONNXRUNTIME;
}

// Of a library that stays open. Null when it is not there.
inline void* symbol(const char* file, const char* name) {
  auto library = platform::DynamicLibrary::open(platform::path_from_utf8(file));
  if (!library.ok()) return nullptr;
  library->leak();
  return library->symbol(name);
}

inline std::filesystem::path provider_file() {
  return platform::path_from_utf8(LATEBIND_TEST_PROVIDER);
}

inline const OrtApiBase* base() {
  static const OrtApiBase* found = [] {
    const auto get = reinterpret_cast<const OrtApiBase*(ORT_API_CALL*)()>(symbol(library_file(), "OrtGetApiBase"));
    return get != nullptr ? get() : nullptr;
  }();
  return found;
}

inline const OrtApi& api() {
  return *base()->GetApi(ORT_API_VERSION);
}

// The error's text; takes the status.
inline std::string text_of(OrtStatus* status) {
  if (status == nullptr) return {};
  std::string text = api().GetErrorMessage(status);
  api().ReleaseStatus(status);
  return text;
}

#define ASSERT_FINE(call) ASSERT_EQ(text_of(call), "")

// y = relu(x + x) * x, rows of four.
inline std::string model() {
  const OnnxDims rows_of_four{"n", std::int64_t{4}};
  return OnnxBuilder()
      .input("x", core::ElementType::kF32, rows_of_four)
      .output("y", core::ElementType::kF32, rows_of_four)
      .node("Add", {"x", "x"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Mul", {"b", "x"}, {"y"})
      .bytes();
}

class OnnxruntimeHostTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(base(), nullptr) << library_file();
    ASSERT_FINE(api().CreateEnv(ORT_LOGGING_LEVEL_ERROR, "test", &env_));
  }
  void TearDown() override { api().ReleaseEnv(env_); }

  [[nodiscard]] std::vector<const OrtEpDevice*> devices() const {
    const OrtEpDevice* const* all = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(text_of(api().GetEpDevices(env_, &all, &count)), "");
    std::vector<const OrtEpDevice*> ours;
    for (std::size_t i = 0; i < count; ++i)
      if (std::string(api().EpDevice_EpName(all[i])) == "Latebind") ours.push_back(all[i]);
    return ours;
  }
  // What the provider says answers in this process, as JSON.
  [[nodiscard]] static std::string attestations() {
    const auto get =
        reinterpret_cast<std::size_t (*)(char*, std::size_t)>(symbol(LATEBIND_TEST_PROVIDER, "LatebindAttestations"));
    if (get == nullptr) return {};
    std::string text(get(nullptr, 0) + 4096, '\0');
    text.resize(get(text.data(), text.size()) - 1);
    return text;
  }
  // Another environment with these entries, instead of the one without any.
  void begin_with(const Texts& entries) {
    api().ReleaseEnv(env_);
    env_ = nullptr;
    OrtKeyValuePairs* pairs = nullptr;
    api().CreateKeyValuePairs(&pairs);
    for (const auto& [key, value] : entries)
      api().AddKeyValuePair(pairs, key.c_str(), value.c_str());
    OrtEnvCreationOptions options{};
    options.version = ORT_API_VERSION;
    options.logging_severity_level = ORT_LOGGING_LEVEL_ERROR;
    options.log_id = "test";
    options.config_entries = pairs;
    const std::string error = text_of(api().CreateEnvWithOptions(&options, &env_));
    api().ReleaseKeyValuePairs(pairs);
    ASSERT_EQ(error, "");
  }
  // What the provider says of a device: of its hardware, or of itself.
  [[nodiscard]] static std::string of_hardware(const OrtEpDevice* device, const char* key) {
    const char* value = api().GetKeyValue(api().HardwareDevice_Metadata(api().EpDevice_Device(device)), key);
    return value != nullptr ? value : "";
  }
  [[nodiscard]] static std::string of_device(const OrtEpDevice* device, const char* key) {
    const char* value = api().GetKeyValue(api().EpDevice_EpMetadata(device), key);
    return value != nullptr ? value : "";
  }
  [[nodiscard]] static bool is_virtual(const OrtEpDevice* device) { return of_hardware(device, "is_virtual") == "1"; }
  void register_as(const char* name) const {
    ASSERT_FINE(api().RegisterExecutionProviderLibrary(env_, name, provider_file().c_str()));
  }
  // A session's options for these devices; for ReleaseSessionOptions.
  [[nodiscard]] OrtSessionOptions* options_for(const std::vector<const OrtEpDevice*>& on, const Texts& provider = {},
                                               const Texts& entries = {}) const {
    OrtSessionOptions* options = nullptr;
    EXPECT_EQ(text_of(api().CreateSessionOptions(&options)), "");
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (const auto& [key, value] : provider) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    EXPECT_EQ(text_of(api().SessionOptionsAppendExecutionProvider_V2(options, env_, on.data(), on.size(), keys.data(),
                                                                     values.data(), keys.size())),
              "");
    for (const auto& [key, value] : entries)
      EXPECT_EQ(text_of(api().AddSessionConfigEntry(options, key.c_str(), value.c_str())), "");
    return options;
  }
  [[nodiscard]] std::string session_error(const std::string& bytes, const std::vector<const OrtEpDevice*>& on,
                                          const Texts& provider, const Texts& entries, OrtSession** session) const {
    OrtSessionOptions* options = options_for(on, provider, entries);
    std::string error = text_of(api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), options, session));
    api().ReleaseSessionOptions(options);
    return error;
  }
  [[nodiscard]] std::string session_error(const std::vector<const OrtEpDevice*>& on, const char* key, const char* value,
                                          OrtSession** session) const {
    return session_error(model(), on, key != nullptr ? Texts{{key, value}} : Texts{}, {}, session);
  }
  static void expect_right(OrtSession* session) {
    OrtMemoryInfo* memory = nullptr;
    ASSERT_FINE(api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
    std::array<float, 8> x{1, -2, 3, -4, 5, 6, -7, 8};
    const std::array<std::int64_t, 2> shape{2, 4};
    OrtValue* input = nullptr;
    ASSERT_FINE(api().CreateTensorWithDataAsOrtValue(memory, x.data(), sizeof x, shape.data(), 2,
                                                     ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
    OrtValue* output = nullptr;
    const char* in = "x";
    const char* out = "y";
    ASSERT_FINE(api().Run(session, nullptr, &in, &input, 1, &out, 1, &output));
    void* data = nullptr;
    ASSERT_FINE(api().GetTensorMutableData(output, &data));
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(static_cast<const float*>(data)[i], x[i] > 0 ? 2 * x[i] * x[i] : 0) << i;
    api().ReleaseValue(output);
    api().ReleaseValue(input);
    api().ReleaseMemoryInfo(memory);
  }

  OrtEnv* env_ = nullptr;
};

}  // namespace latebind::test
