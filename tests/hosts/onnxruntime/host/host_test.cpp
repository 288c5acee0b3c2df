// ONNX Runtime from its wheel, used by its C interface alone, with Latebind's provider registered.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/hosts/onnxruntime/host/fixture.h"

namespace latebind::test {
namespace {

std::size_t resident_pages() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

TEST_F(OnnxruntimeHostTest, RunsAModelOnWhatItOffers) {
  register_as("latebind");
  const auto ours = devices();
  ASSERT_FALSE(ours.empty());
  EXPECT_STREQ(api().EpDevice_EpVendor(ours[0]), "Latebind");
  OrtSession* session = nullptr;
  ASSERT_EQ(session_error(ours, nullptr, nullptr, &session), "");
  expect_right(session);
  api().ReleaseSession(session);
  ASSERT_FINE(api().UnregisterExecutionProviderLibrary(env_, "latebind"));
  EXPECT_TRUE(devices().empty());
}

TEST_F(OnnxruntimeHostTest, UnregistersWhileASessionLives) {
  register_as("latebind");
  OrtSession* session = nullptr;
  ASSERT_EQ(session_error(devices(), nullptr, nullptr, &session), "");
  // Either the host refuses, or the session goes on.
  (void)text_of(api().UnregisterExecutionProviderLibrary(env_, "latebind"));
  expect_right(session);
  api().ReleaseSession(session);
}

TEST_F(OnnxruntimeHostTest, UnknownOptionsNameTheNearest) {
  register_as("latebind");
  OrtSession* session = nullptr;
  const std::string error = session_error(devices(), "presicion", "f32", &session);
  EXPECT_NE(error.find("did you mean precision"), std::string::npos) << error;
  EXPECT_NE(session_error(devices(), "device", "openvino:TPU", &session).find("there is no device openvino:TPU"),
            std::string::npos);
  EXPECT_NE(session_error(devices(), "device", "onnxruntime:CPU", &session).find("nested=1"), std::string::npos);
}

TEST_F(OnnxruntimeHostTest, OptionsOfGarbageAreErrors) {
  register_as("latebind");
  for (const char* key : {"", " ", "device\n", "%s%s%n", "property.", "nested", "targets\xff"}) {
    OrtSession* session = nullptr;
    EXPECT_NE(session_error(devices(), key, "\x01%n\xff;../..", &session), "") << key;
    EXPECT_EQ(session, nullptr);
  }
}

TEST_F(OnnxruntimeHostTest, RegistersAgainAndAgainWithoutGrowth) {
  const auto once = [&] {
    register_as("latebind.virtual");
    EXPECT_FALSE(devices().empty());
    ASSERT_FINE(api().UnregisterExecutionProviderLibrary(env_, "latebind.virtual"));
  };
  for (int i = 0; i < 20; ++i)
    once();
  const std::size_t before = resident_pages();
  for (int i = 0; i < 100; ++i)
    once();
  EXPECT_LT(resident_pages(), before + 512) << "pages of 4 KiB";
}

TEST_F(OnnxruntimeHostTest, SixteenThreadsRegister) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, name = "latebind." + std::to_string(i)] {
      const std::string error =
          text_of(api().RegisterExecutionProviderLibrary(env_, name.c_str(), LATEBIND_TEST_PROVIDER));
      // The host knows one provider of a name, and says so.
      if (error.empty()) {
        EXPECT_EQ(text_of(api().UnregisterExecutionProviderLibrary(env_, name.c_str())), "");
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  register_as("latebind");
  EXPECT_FALSE(devices().empty());
}

TEST_F(OnnxruntimeHostTest, VirtualDevicesAreThereOnlyWhenAllowed) {
  register_as("latebind");
  for (const OrtEpDevice* device : devices())
    EXPECT_FALSE(is_virtual(device));
  ASSERT_FINE(api().UnregisterExecutionProviderLibrary(env_, "latebind"));
  register_as("latebind.virtual");
  for (const OrtEpDevice* device : devices()) {
    if (!is_virtual(device)) continue;
    EXPECT_EQ(of_hardware(device, "DiscoveredBy"), "latebind");
    OrtSession* session = nullptr;
    const std::string error = session_error({device}, nullptr, nullptr, &session);
    EXPECT_NE(error.find("is a virtual device"), std::string::npos) << error;
  }
}

TEST_F(OnnxruntimeHostTest, CompatibilityIsToldApart) {
  register_as("latebind");
  const auto ours = devices();
  ASSERT_FALSE(ours.empty());
  const auto of = [&](const std::string& text) {
    OrtCompiledModelCompatibility compatibility{};
    EXPECT_EQ(text_of(api().GetModelCompatibilityForEpDevices(ours.data(), ours.size(), text.c_str(), &compatibility)),
              "");
    return compatibility;
  };
  const OrtKeyValuePairs* metadata = api().EpDevice_EpMetadata(ours[0]);
  const std::string here = std::string(api().GetKeyValue(metadata, "latebind.device")) + "@" +
                           api().GetKeyValue(metadata, "latebind.runtime_version");
  EXPECT_EQ(of("latebind 1; devices=" + here + "; portable=1"), OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL);
  EXPECT_EQ(of("latebind 1; devices=openvino:CPU@1999.1; portable=1"),
            OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION);
  EXPECT_EQ(of("latebind 1; devices=openvino:NPU.4000@1; portable=0"), OrtCompiledModelCompatibility_EP_UNSUPPORTED);
  EXPECT_EQ(of("v2:6:2.51.0:5.51.0:73:60:0:0"), OrtCompiledModelCompatibility_EP_NOT_APPLICABLE);
}

// A host that has no table of the version that is needed.
TEST(OnnxruntimeOldHostTest, IsRefusedWithASentence) {
  ASSERT_NE(base(), nullptr);
  const auto create = reinterpret_cast<CreateEpApiFactoriesFn>(symbol(LATEBIND_TEST_PROVIDER, "CreateEpFactories"));
  ASSERT_NE(create, nullptr);
  const OrtApiBase old{[](std::uint32_t version) noexcept { return version > 23 ? nullptr : base()->GetApi(version); },
                       []() noexcept { return "1.23.2"; }};
  OrtEpFactory* factory = nullptr;
  std::size_t made = 1;
  const std::string error = text_of(create("latebind", &old, nullptr, &factory, 1, &made));
  EXPECT_EQ(error, "Latebind needs ONNX Runtime 1.24 or newer; this is 1.23.2");
  EXPECT_EQ(made, 0U);
}

}  // namespace
}  // namespace latebind::test
