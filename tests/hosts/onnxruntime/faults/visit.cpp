#include "tests/hosts/onnxruntime/faults/visit.h"

#include <array>
#include <cstdlib>
#include <cstring>

namespace latebind::test {
namespace {

std::string bytes_of(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

HostAttribute model_text(const std::string& shape) {
  return {"model", abi::kAttrString, "fake-model\ninput x f32 " + shape + "\noutput y plus-one 0\nend\n"};
}

void note(Outcome& outcome, const std::string& error) {
  if (outcome.error.empty()) outcome.error = error;
}

void run(abi::Ep& ep, abi::NodeComputeInfo& info, const HostedOptions& options, Outcome& outcome) {
  const std::vector<float> x{1, -2, 3, 4};
  std::string error = take_status(by_provider([&] { return ep.OnRunStart(&ep, options.run()); }));
  note(outcome, error);
  if (!error.empty()) return;
  const std::vector<HostTensor> made = compute(info, {{1, {2, 2}, bytes_of(x)}}, 1, error);
  note(outcome, error);
  note(outcome, take_status(by_provider([&] { return ep.OnRunEnd(&ep, options.run(), true); })));
  if (!error.empty()) return;
  std::vector<float> expected;
  for (const float number : x)
    expected.push_back(number + 1);
  outcome.is_right = made[0].bytes == bytes_of(expected) && made[0].shape == std::vector<std::int64_t>{2, 2};
  if (!outcome.is_right) note(outcome, "WRONG NUMBERS");
}

void use(abi::Ep& ep, const Scene& scene, const HostedOptions& options, Outcome& outcome) {
  const HostedGraph graph(scene.graph);
  std::string error;
  const auto parts = capability(ep, graph, error);
  note(outcome, error);
  if (!error.empty()) return;
  std::vector<std::unique_ptr<HostedGraph>> graphs;
  std::vector<const abi::Graph*> raw;
  std::vector<const abi::Node*> fused;
  for (const auto& part : parts) {
    graphs.push_back(graph.part(part));
    raw.push_back(graphs.back()->get());
    fused.push_back(graphs.back()->fused());
  }
  outcome.is_left = parts.empty();
  if (parts.empty()) return;
  std::vector<abi::NodeComputeInfo*> infos(parts.size(), nullptr);
  std::vector<abi::Node*> contexts(parts.size(), nullptr);
  error = take_status(by_provider(
      [&] { return ep.Compile(&ep, raw.data(), fused.data(), parts.size(), infos.data(), contexts.data()); }));
  note(outcome, error);
  const char* compatibility = by_provider([&] { return ep.GetCompiledModelCompatibilityInfo(&ep, graph.get()); });
  if (compatibility != nullptr) outcome.compatibility = compatibility;
  for (abi::Node* context : contexts)
    if (context != nullptr) outcome.contexts.push_back(take_node(context));
  if (!error.empty()) return;
  scene.before_runs();
  for (abi::NodeComputeInfo* info : infos) {
    if (info == nullptr) {
      note(outcome, "NO NODE");
    } else {
      run(ep, *info, options, outcome);
    }
  }
  std::array<char, 4096> text{};
  by_provider([&] { return LatebindAttestations(text.data(), text.size()); });
  by_provider([&] {
    ep.ReleaseNodeComputeInfos(&ep, infos.data(), infos.size());
    return 0;
  });
}

}  // namespace

HostGraph plus_one(const std::string& shape) {
  HostGraph graph;
  graph.nodes = {{"Softplus", {"x"}, {"y"}, {model_text(shape)}, "", 0}};
  graph.inputs = {"x"};
  graph.outputs = {"y"};
  return graph;
}

HostGraph in_parts() {
  const std::string numbers = bytes_of({1, 2});
  const std::int64_t integer = 7;
  const std::string integer_bytes(reinterpret_cast<const char*>(&integer), sizeof integer);
  HostGraph graph;
  graph.nodes = {
      {"If", {"x"}, {"a"}, {}, "", 1},
      {"Softplus",
       {"a", "w"},
       {"b"},
       {model_text("?,2"),
        {"numbers", abi::kAttrFloats, numbers},
        {"number", abi::kAttrFloat, bytes_of({1})},
        {"integer", abi::kAttrInt, integer_bytes},
        {"integers", abi::kAttrInts, integer_bytes},
        {"texts", abi::kAttrStrings, std::string("one\0two\0", 8)},
        {"tensor", abi::kAttrTensor, numbers}},
       "",
       0},
      {"Softsign", {"b", "", "i"}, {"c"}, {}, "", 0},
      {"Softsign", {"c"}, {"y"}, {}, "", 0},
  };
  graph.inputs = {"x"};
  graph.outputs = {"y"};
  graph.initializers["w"] = {1, {2}, numbers};
  constexpr std::int32_t kOnnxI64 = 7;
  graph.initializers["i"] = {kOnnxI64, {1}, integer_bytes};
  return graph;
}

HostGraph of_context(const HostNode& context, const std::string& path) {
  HostGraph graph;
  graph.nodes = {context};
  graph.inputs = context.inputs;
  graph.outputs = context.outputs;
  graph.path = path;
  return graph;
}

Outcome visit(const Scene& scene) {
  const Spared spared;
  Outcome outcome;
  abi::EpFactory* factory = nullptr;
  std::size_t made = 0;
  note(outcome, take_status(by_provider([&] {
         return CreateEpFactories(scene.registered_name.c_str(), &host_base(), host_logger(), &factory, 1, &made);
       })));
  if (made == 0) {
    note(outcome, "NO FACTORY");
    return outcome;
  }
  std::string error;
  const auto devices = offered(*factory, {host_hardware(scene.hardware)}, error);
  note(outcome, error);
  outcome.devices = devices.size();
  if (!devices.empty()) {
    const HostedOptions options(scene.settings);
    abi::Ep* ep = create_ep(*factory, devices[0], options, error);
    note(outcome, error);
    if (ep != nullptr) {
      use(*ep, scene, options, outcome);
      by_provider([&] {
        factory->ReleaseEp(factory, ep);
        return 0;
      });
    } else {
      note(outcome, "NO PROVIDER");
    }
  }
  note(outcome, take_status(by_provider([&] { return ReleaseEpFactory(factory); })));
  outcome.log = take_log();
  return outcome;
}

void ProviderFaultTest::SetUp() {
  setenv("LATEBIND_OPENVINO_LIBRARY", fake.file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", "none", 1);
  set_environment({});
  fault_host_call(0, HostFault::kFails);
}

void ProviderFaultTest::TearDown() {
  expect_balance("at the end");
  EXPECT_EQ(fake.defects(), "");
}

void ProviderFaultTest::expect_balance(const std::string& what) const {
  EXPECT_EQ(host_objects_alive(), "") << what;
  EXPECT_EQ(host_defects(), "") << what;
  for (const char* kind : {"model", "compiled model", "request"})
    EXPECT_EQ(fake.alive(kind), 0) << kind << ' ' << what;
}

}  // namespace latebind::test
