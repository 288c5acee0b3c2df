// Registration, sessions and their ends, in every order and on many threads.
#include <array>
#include <cstring>
#include <filesystem>

#include "tests/hosts/onnxruntime/faults/visit.h"
#include "tests/support/on_threads.h"

namespace latebind::test {
namespace {

class LifetimeTest : public ProviderFaultTest {
 protected:
  static abi::EpFactory* factory(const char* name = "latebind") {
    abi::EpFactory* made = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(take_status(CreateEpFactories(name, &host_base(), host_logger(), &made, 1, &count)), "");
    EXPECT_EQ(count, 1U);
    return made;
  }
};

TEST_F(LifetimeTest, AVisitIsRightAndLeavesNothing) {
  const Outcome outcome = visit({.graph = plus_one()});
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.is_right);
  EXPECT_EQ(outcome.devices, 1U);
}

TEST_F(LifetimeTest, APartBehindControlFlowIsRightAndTheLogSaysWhatIsLeft) {
  std::vector<std::string> log;
  const Outcome outcome = visit({.graph = in_parts(), .before_runs = [&] { log = take_log(); }});
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.is_right);
  bool is_said = false;
  for (const std::string& line : log)
    if (line.find("leaves to the host: If 'node0' is control flow") != std::string::npos) is_said = true;
  EXPECT_TRUE(is_said);
}

TEST_F(LifetimeTest, VirtualDevicesGoWithTheirFactory) {
  std::filesystem::copy_file(fake.file(), fake.folder() / "libopenvino_intel_npu_compiler_loader.so");
  fake.script("device CPU\nregistered NPU\n");
  const std::size_t real = visit({.graph = plus_one()}).devices;
  EXPECT_EQ(real, 1U);
  const std::size_t all = visit({.registered_name = "any.virtual", .graph = plus_one()}).devices;
  EXPECT_GT(all, real);
  set_environment({{"allow_virtual_devices", "1"}});
  EXPECT_EQ(visit({.graph = plus_one()}).devices, all);
  set_environment({{"allow_virtual_devices", "0"}});
  EXPECT_EQ(visit({.graph = plus_one()}).devices, real);
}

TEST_F(LifetimeTest, RegistersAgainAndAgainInSeveralEnvironments) {
  abi::EpFactory* other = factory("other");
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(visit({.registered_name = "latebind." + std::to_string(i % 3), .graph = plus_one()}).error, "");
  std::string error;
  EXPECT_EQ(offered(*other, {host_hardware(abi::kHardwareCpu)}, error).size(), 1U) << error;
  EXPECT_EQ(take_status(ReleaseEpFactory(other)), "");
}

TEST_F(LifetimeTest, ASessionOutlivesItsRegistration) {
  abi::EpFactory* registered = factory();
  std::string error;
  const auto devices = offered(*registered, {host_hardware(abi::kHardwareCpu)}, error);
  ASSERT_EQ(devices.size(), 1U) << error;
  const HostedOptions options({});
  abi::Ep* ep = create_ep(*registered, devices[0], options, error);
  ASSERT_NE(ep, nullptr) << error;
  const HostedGraph graph(plus_one());
  const auto parts = capability(*ep, graph, error);
  ASSERT_EQ(parts.size(), 1U) << error;
  const auto part = graph.part(parts[0]);
  const abi::Graph* raw = part->get();
  const abi::Node* fused = part->fused();
  abi::NodeComputeInfo* info = nullptr;
  ASSERT_EQ(take_status(ep->Compile(ep, &raw, &fused, 1, &info, nullptr)), "");
  EXPECT_EQ(take_status(ReleaseEpFactory(registered)), "");
  const float zero = 0;
  const auto made = compute(*info, {{1, {1, 2}, std::string(2 * sizeof zero, '\0')}}, 1, error);
  EXPECT_EQ(error, "");
  const std::array<float, 2> one{1, 1};
  ASSERT_EQ(made[0].bytes.size(), sizeof one);
  EXPECT_EQ(std::memcmp(made[0].bytes.data(), one.data(), sizeof one), 0);
  ep->ReleaseNodeComputeInfos(ep, &info, 1);
  registered->ReleaseEp(registered, ep);
}

TEST_F(LifetimeTest, SixteenThreadsRegisterAndRun) {
  on_threads(16, [&](int t) {
    for (int i = 0; i < 4; ++i) {
      const Outcome outcome = visit({.registered_name = "latebind." + std::to_string(t), .graph = plus_one()});
      if (!outcome.error.empty()) return outcome.error;
      if (!outcome.is_right) return std::string("not right");
    }
    return std::string();
  });
}

TEST_F(LifetimeTest, OneSessionRunsOnManyThreads) {
  abi::EpFactory* registered = factory();
  std::string error;
  const auto devices = offered(*registered, {host_hardware(abi::kHardwareCpu)}, error);
  const HostedOptions options({});
  abi::Ep* ep = create_ep(*registered, devices.at(0), options, error);
  ASSERT_NE(ep, nullptr) << error;
  const HostedGraph graph(plus_one());
  const auto part = graph.part(capability(*ep, graph, error).at(0));
  const abi::Graph* raw = part->get();
  const abi::Node* fused = part->fused();
  abi::NodeComputeInfo* info = nullptr;
  ASSERT_EQ(take_status(ep->Compile(ep, &raw, &fused, 1, &info, nullptr)), "");
  on_threads(8, [&](int) {
    std::string wrong;
    for (int i = 0; i < 100 && wrong.empty(); ++i) {
      const std::int64_t rows = 1 + i % 5;
      const std::string zeros(static_cast<std::size_t>(rows) * 2 * sizeof(float), '\0');
      const auto made = compute(*info, {{1, {rows, 2}, zeros}}, 1, wrong);
      if (made[0].bytes.size() != zeros.size()) wrong += " a size of a tensor that does not match";
      std::array<char, 2048> text{};
      LatebindAttestations(text.data(), text.size());
    }
    return wrong;
  });
  ep->ReleaseNodeComputeInfos(ep, &info, 1);
  registered->ReleaseEp(registered, ep);
  EXPECT_EQ(take_status(ReleaseEpFactory(registered)), "");
}

TEST_F(LifetimeTest, AnOlderHostIsRefusedWithASentence) {
  abi::EpFactory* made = nullptr;
  std::size_t count = 1;
  EXPECT_EQ(take_status(CreateEpFactories("latebind", &host_base(abi::kVersion - 1), nullptr, &made, 1, &count)),
            "Latebind needs ONNX Runtime 1.24 or newer; this is 1.24.0-fake");
  EXPECT_EQ(count, 0U);
}

TEST_F(LifetimeTest, NoDeviceMeansNoneIsOfferedAndTheLogSaysWhy) {
  fake.script("no-devices\n");
  abi::EpFactory* registered = factory();
  std::string error;
  (void)take_log();
  EXPECT_TRUE(offered(*registered, {host_hardware(abi::kHardwareCpu)}, error).empty());
  EXPECT_EQ(error, "");
  const auto log = take_log();
  ASSERT_FALSE(log.empty());
  EXPECT_NE(log[0].find("offers no device here"), std::string::npos) << log[0];
  EXPECT_EQ(take_status(ReleaseEpFactory(registered)), "");
}

TEST_F(LifetimeTest, SettingsOfGarbageAreErrors) {
  for (const char* key : {"", " ", "device\n", "%s%s%n", "property.", "nested", "targets\xff", "precision", "threads",
                          "emulate", "cache.folder\x01", "presicion"}) {
    const Outcome outcome =
        visit({.settings = {{std::string("ep.latebind.") + key, "\x01%n\xff;../.."}}, .graph = plus_one()});
    EXPECT_NE(outcome.error, "") << key;
    EXPECT_FALSE(outcome.is_right) << key;
    expect_balance(key);
  }
  const Outcome deadline = visit({.settings = {{"latebind.timeout_ms", "-1"}}, .graph = plus_one()});
  EXPECT_NE(deadline.error.find("milliseconds"), std::string::npos) << deadline.error;
}

TEST_F(LifetimeTest, AFailingDeviceIsAnErrorOfTheRunWithItsText) {
  fake.script("device CPU\nfail run * -1 the driver died\n");
  const Outcome outcome = visit({.graph = plus_one()});
  EXPECT_NE(outcome.error.find("the driver died"), std::string::npos) << outcome.error;
  EXPECT_FALSE(outcome.is_right);
}

}  // namespace
}  // namespace latebind::test
