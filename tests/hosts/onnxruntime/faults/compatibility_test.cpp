// What the provider says of a compiled model for a device, for every pair of both, beside what happens when it is
// loaded there.
#include <array>
#include <fstream>

#include "tests/hosts/onnxruntime/faults/visit.h"

namespace latebind::test {
namespace {

constexpr const char* kCompiler = "libopenvino_intel_npu_compiler_loader.so";

struct Machine {
  const char* name;
  const char* script;
};
constexpr std::array<Machine, 6> kMachines{{
    {"CPU", "device CPU\n"},
    {"CPU, newer", "version 2027.1.0-fake\ndevice CPU\n"},
    {"NPU 4000", "device CPU\ndevice NPU\nproperty NPU DEVICE_ARCHITECTURE 4000\n"},
    {"NPU 5010", "device CPU\ndevice NPU\nproperty NPU DEVICE_ARCHITECTURE 5010\n"},
    {"NPU 4000, newer", "version 2027.1.0-fake\ndevice CPU\ndevice NPU\nproperty NPU DEVICE_ARCHITECTURE 4000\n"},
    {"NPU alone", "device NPU\nproperty NPU DEVICE_ARCHITECTURE 4000\n"},
}};

struct Blob {
  std::string name;
  HostNode context;
  std::string compatibility;
};

const char* word_of(abi::Compatibility compatibility) {
  switch (compatibility) {
    case abi::kOptimal:
      return "optimal";
    case abi::kPreferRecompilation:
      return "prefer recompilation";
    case abi::kUnsupported:
      return "unsupported";
    default:
      return "not applicable";
  }
}

class CompatibilityTest : public ProviderFaultTest {
 protected:
  Scene scene_of(HostGraph graph, abi::HardwareDeviceType hardware) const {
    Scene scene{.graph = std::move(graph), .hardware = hardware};
    scene.graph.shape = {2, 2};
    // The only one that such devices have: what is asked for is that of the compiled model.
    if (hardware == abi::kHardwareNpu) scene.settings["ep.latebind.precision"] = "f16";
    return scene;
  }
  Blob compiled(const std::string& targets, const char* script) {
    fake.script(script);
    Scene scene = scene_of(plus_one("2,2"), abi::kHardwareCpu);
    scene.settings["ep.context_enable"] = "1";
    scene.settings["ep.context_embed_mode"] = "1";
    scene.settings["ep.latebind.targets"] = targets;
    const Outcome outcome = visit(scene);
    EXPECT_EQ(outcome.error, "") << targets;
    EXPECT_EQ(outcome.contexts.size(), 1U) << targets;
    return {targets + " on " + script, outcome.contexts.empty() ? HostNode{} : outcome.contexts[0],
            outcome.compatibility};
  }
  static std::string verdict(const Blob& blob, abi::HardwareDeviceType hardware) {
    abi::EpFactory* factory = nullptr;
    std::size_t made = 0;
    EXPECT_EQ(take_status(CreateEpFactories("latebind", &host_base(), host_logger(), &factory, 1, &made)), "");
    abi::Compatibility compatibility{};
    const abi::HardwareDevice* device = host_hardware(hardware);
    EXPECT_EQ(take_status(factory->ValidateCompiledModelCompatibilityInfo(factory, &device, 1,
                                                                          blob.compatibility.c_str(), &compatibility)),
              "");
    EXPECT_EQ(take_status(ReleaseEpFactory(factory)), "");
    return word_of(compatibility);
  }
  // "" when the host is offered no device of that kind.
  std::string what_happens(const Blob& blob, abi::HardwareDeviceType hardware) const {
    const auto compiles = [this] {
      return fake.calls("ov_core_compile_model") + fake.calls("ov_core_compile_model_from_file");
    };
    const long before = compiles();
    const Outcome outcome = visit(scene_of(of_context(blob.context, ""), hardware));
    if (outcome.devices == 0) return "";
    if (!outcome.error.empty()) return "unsupported";
    EXPECT_TRUE(outcome.is_right);
    return compiles() == before ? "optimal" : "prefer recompilation";
  }
};

TEST_F(CompatibilityTest, IsWhatHappensForEveryPair) {
  std::ofstream(fake.folder() / kCompiler) << "";
  constexpr const char* kBuilder = "device CPU\nregistered NPU\n";
  const std::vector<Blob> blobs{
      compiled("openvino:CPU", kBuilder),
      compiled("cpu", kBuilder),
      compiled("openvino:NPU.4000", kBuilder),
      compiled("openvino:NPU.5010", kBuilder),
      compiled("openvino:CPU,openvino:NPU.4000", kBuilder),
      compiled("openvino:CPU", "version 2027.1.0-fake\ndevice CPU\nregistered NPU\n"),
      compiled("openvino:NPU.4000", "version 2027.1.0-fake\ndevice CPU\nregistered NPU\n"),
  };
  std::map<std::string, int> seen;
  for (const Blob& blob : blobs) {
    for (const Machine& machine : kMachines) {
      for (const auto hardware : {abi::kHardwareCpu, abi::kHardwareNpu}) {
        fake.script(machine.script);
        const std::string happened = what_happens(blob, hardware);
        if (happened.empty()) continue;
        EXPECT_EQ(verdict(blob, hardware), happened)
            << blob.name << " (" << blob.compatibility << ") on " << machine.name << ", hardware " << hardware;
        ++seen[happened];
      }
    }
  }
  EXPECT_GE(seen["optimal"], 10);
  EXPECT_GE(seen["prefer recompilation"], 10);
}

TEST_F(CompatibilityTest, ForAVirtualDeviceIsUnsupportedUnlessItIsEmulated) {
  std::ofstream(fake.folder() / kCompiler) << "";
  fake.script("device CPU\nregistered NPU\n");
  abi::EpFactory* factory = nullptr;
  std::size_t made = 0;
  ASSERT_EQ(take_status(CreateEpFactories("any.virtual", &host_base(), host_logger(), &factory, 1, &made)), "");
  std::string error;
  std::size_t virtual_devices = 0;
  for (const OfferedDevice& device : offered(*factory, {host_hardware(abi::kHardwareCpu)}, error)) {
    if (!device.hardware_metadata.contains("is_virtual")) continue;
    ++virtual_devices;
    abi::Compatibility compatibility{};
    const std::string architecture = device.hardware_metadata.at("Architecture");
    const std::string text = "latebind 1; devices=openvino:NPU." + architecture + "@2026.4.1-fake; portable=1";
    EXPECT_EQ(take_status(factory->ValidateCompiledModelCompatibilityInfo(factory, &device.hardware, 1, text.c_str(),
                                                                          &compatibility)),
              "");
    EXPECT_STREQ(word_of(compatibility), "unsupported") << text;
    const HostedOptions options({});
    EXPECT_EQ(create_ep(*factory, device, options, error), nullptr);
    EXPECT_NE(error.find("is a virtual device"), std::string::npos) << error;
  }
  EXPECT_GT(virtual_devices, 0U);
  EXPECT_EQ(take_status(ReleaseEpFactory(factory)), "");
}

TEST_F(CompatibilityTest, OfAnotherProviderIsNotApplicable) {
  Blob blob;
  for (const char* text : {"", "v2:6:2.51.0:5.51.0:73:60:0:0", "latebind 2; devices=openvino:CPU@1", "latebind 1;"}) {
    blob.compatibility = text;
    EXPECT_EQ(verdict(blob, abi::kHardwareCpu), "not applicable") << text;
  }
}

TEST_F(CompatibilityTest, WithoutAPortableModelAndForNoDeviceHereIsUnsupported) {
  Blob blob;
  blob.compatibility = "latebind 1; devices=openvino:NPU.4000@2026.4.1-fake; portable=0";
  EXPECT_EQ(verdict(blob, abi::kHardwareCpu), "unsupported");
  fake.script("device NPU\n");
  blob.compatibility = "latebind 1; devices=openvino:CPU@2026.4.1-fake; portable=1";
  EXPECT_EQ(verdict(blob, abi::kHardwareCpu), "unsupported");
}

}  // namespace
}  // namespace latebind::test
