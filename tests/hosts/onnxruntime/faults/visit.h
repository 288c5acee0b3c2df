// One visit of a host: everything that it does with the provider from registration to release, once.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/fakes/fake_openvino_library.h"
#include "tests/fakes/fake_plugin_host.h"

extern "C" {
latebind::provider::abi::Status* CreateEpFactories(const char*, const latebind::provider::abi::ApiBase*,
                                                   const latebind::provider::abi::Logger*,
                                                   latebind::provider::abi::EpFactory**, std::size_t, std::size_t*);
latebind::provider::abi::Status* ReleaseEpFactory(latebind::provider::abi::EpFactory*);
std::size_t LatebindAttestations(char*, std::size_t);
}

namespace latebind::test {

struct Scene {
  std::string registered_name = "latebind";
  std::map<std::string, std::string> settings{};
  HostGraph graph{};
  abi::HardwareDeviceType hardware = abi::kHardwareCpu;
  // Within the first session, when its nodes are compiled and before they run.
  std::function<void()> before_runs = [] {};
};

struct Outcome {
  std::string error;      // the first, "" when there was none
  bool is_right = false;  // something ran, and its numbers are those of y = x + 1
  bool is_left = false;   // the provider took no node, so that the host computes all
  std::size_t devices = 0;
  std::vector<HostNode> contexts;
  std::string compatibility;  // what the compiled model is for, in the provider's words
  std::vector<std::string> log;
};

// y = x + 1 as one node, whose model the fake library reads. `shape` as the fake has it.
[[nodiscard]] HostGraph plus_one(const std::string& shape = "?,2");
// The same as three nodes with an initializer, a tensor, numbers and texts as attributes, behind one that is control
// flow.
[[nodiscard]] HostGraph in_parts();
// A graph of one node that the provider wrote.
[[nodiscard]] HostGraph of_context(const HostNode& context, const std::string& path);

[[nodiscard]] Outcome visit(const Scene& scene);

// On a fake OpenVINO library of the test's own, and on nothing else. What is not given back is a failure.
class ProviderFaultTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  void expect_balance(const std::string& what) const;

  FakeOpenvino fake;
};

}  // namespace latebind::test
