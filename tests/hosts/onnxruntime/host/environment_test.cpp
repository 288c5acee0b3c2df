// What the application says in its environment: which virtual devices it wants to see.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/hosts/onnxruntime/host/fixture.h"

namespace latebind::test {
namespace {

class OnnxruntimeEnvironmentTest : public OnnxruntimeHostTest {
 protected:
  // Those that are listed under this name, with what each lacks.
  [[nodiscard]] Texts virtual_devices(const char* name) const {
    register_as(name);
    Texts found;
    for (const OrtEpDevice* device : devices())
      if (is_virtual(device)) found[of_device(device, "latebind.device")] = of_device(device, "latebind.missing");
    return found;
  }
};

TEST_F(OnnxruntimeEnvironmentTest, AllVirtualDevicesAreListedWhenAskedWithWhatIsMissing) {
  begin_with({{"allow_virtual_devices", "1"}, {"ep_factory.Latebind.virtual_devices", "all"}});
  const Texts all = virtual_devices("latebind");
  EXPECT_TRUE(all.contains("openvino:NPU.4000"));
  ASSERT_TRUE(all.contains("onnxruntime:QNN.v73"));
  // Its package is in none of the places that are searched.
  EXPECT_NE(all.at("onnxruntime:QNN.v73").find("onnxruntime-qnn"), std::string::npos) << all.at("onnxruntime:QNN.v73");
  for (const OrtEpDevice* device : devices()) {
    const bool is_missing = !of_device(device, "latebind.missing").empty();
    if (is_virtual(device)) {
      EXPECT_EQ(of_device(device, "latebind.compiler_installed"), is_missing ? "0" : "1");
    }
  }
}

TEST_F(OnnxruntimeEnvironmentTest, OnlyTheCompiledOnesAreListedUnlessAsked) {
  begin_with({{"allow_virtual_devices", "1"}});
  for (const auto& [device, missing] : virtual_devices("latebind"))
    EXPECT_EQ(missing, "") << device;
}

TEST_F(OnnxruntimeEnvironmentTest, ANameListsAllWhereAnEnvironmentCannotBeGiven) {
  EXPECT_TRUE(virtual_devices("latebind.all.virtual").contains("openvino:NPU.4000"));
}

TEST_F(OnnxruntimeEnvironmentTest, NoneIsListedWhereTheHostDoesNotAllowThem) {
  begin_with({{"ep_factory.Latebind.virtual_devices", "all"}});
  EXPECT_TRUE(virtual_devices("latebind").empty());
}

TEST_F(OnnxruntimeEnvironmentTest, EntriesThatMeanNothingAreErrors) {
  for (const Texts& entries :
       {Texts{{"ep_factory.Latebind.virtual_devices", "some"}}, Texts{{"ep_factory.Latebind.virtual", "all"}}}) {
    begin_with(entries);
    const std::string error =
        text_of(api().RegisterExecutionProviderLibrary(env_, "latebind", provider_file().c_str()));
    EXPECT_NE(error.find("there is only ep_factory.Latebind.virtual_devices"), std::string::npos) << error;
    EXPECT_TRUE(devices().empty());
  }
}

TEST_F(OnnxruntimeEnvironmentTest, CompilingWithoutTheCompilerNamesIt) {
  register_as("latebind.all.virtual");
  const auto all = devices();
  const auto npu = std::ranges::find_if(
      all, [](const OrtEpDevice* device) { return of_device(device, "latebind.device") == "onnxruntime:QNN.v73"; });
  ASSERT_NE(npu, all.end());
  OrtSession* session = nullptr;
  const std::string error = session_error(
      model(), {*npu}, {}, {{"ep.context_enable", "1"}, {"ep.context_file_path", "never_written.onnx"}}, &session);
  EXPECT_NE(error.find("onnxruntime-qnn"), std::string::npos) << error;
  EXPECT_EQ(session, nullptr);
}

TEST_F(OnnxruntimeEnvironmentTest, AVirtualDeviceIsCompatibleWithWhatIsForIt) {
  register_as("latebind.all.virtual");
  for (const OrtEpDevice* device : devices()) {
    if (!is_virtual(device)) continue;
    const auto of = [&](const std::string& text) {
      OrtCompiledModelCompatibility compatibility{};
      EXPECT_EQ(text_of(api().GetModelCompatibilityForEpDevices(&device, 1, text.c_str(), &compatibility)), "");
      return compatibility;
    };
    EXPECT_EQ(of("latebind 1; devices=openvino:CPU@1; portable=0"), OrtCompiledModelCompatibility_EP_UNSUPPORTED);
    const bool runs = of_device(device, "latebind.emulated") == "1";
    EXPECT_EQ(of("latebind 1; devices=openvino:CPU@1; portable=1"),
              runs ? OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION
                   : OrtCompiledModelCompatibility_EP_UNSUPPORTED);
  }
}

}  // namespace
}  // namespace latebind::test
