#include "tests/fakes/fake_plugin_host.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <type_traits>
#include <utility>

#include "tests/fakes/fake_plugin_host_graph.h"

namespace latebind::test {

using namespace host;

namespace {

// --- Of plugin providers ---

abi::Status* CreateEpDevice(abi::EpFactory*, const abi::HardwareDevice* hardware, const abi::KeyValuePairs* metadata,
                            const abi::KeyValuePairs*, abi::EpDevice** device) {
  LB_FALLIBLE;
  *device = call.lies() ? nullptr
                        : born("EpDevice",
                               new abi::EpDevice{hardware, metadata != nullptr ? metadata->entries
                                                                               : std::map<std::string, std::string>{}});
  return nullptr;
}
void ReleaseEpDevice(abi::EpDevice* device) {
  const Spared spared;
  dies("EpDevice", device);
}
abi::Status* EpGraphSupportInfo_AddNodesToFuse(abi::GraphSupportInfo* support, const abi::Node* const* nodes,
                                               std::size_t count, const abi::NodeFusionOptions*) {
  LB_FALLIBLE;
  support->parts.emplace_back(nodes, nodes + count);
  return nullptr;
}
abi::Status* CreateHardwareDevice(abi::HardwareDeviceType type, std::uint32_t, std::uint32_t, const char*,
                                  const abi::KeyValuePairs* metadata, abi::HardwareDevice** hardware) {
  LB_FALLIBLE;
  *hardware = call.lies()
                  ? nullptr
                  : born("HardwareDevice",
                         new abi::HardwareDevice{
                             type, metadata != nullptr ? metadata->entries : std::map<std::string, std::string>{}});
  return nullptr;
}
void ReleaseHardwareDevice(abi::HardwareDevice* hardware) {
  const Spared spared;
  dies("HardwareDevice", hardware);
}
abi::Status* DeviceEpIncompatibilityDetails_SetDetails(abi::IncompatibilityDetails* details, std::uint32_t reasons,
                                                       std::int32_t, const char* text) {
  LB_FALLIBLE;
  details->reasons = reasons;
  details->text = text;
  return nullptr;
}
abi::Status* GetEnvConfigEntries(abi::KeyValuePairs** entries) {
  LB_FALLIBLE;
  const std::map<std::string, std::string> environment = [] {
    const std::lock_guard lock(state().mutex);
    return state().environment;
  }();
  *entries = call.lies() ? nullptr : born("KeyValuePairs", new abi::KeyValuePairs{environment, {}, {}});
  return nullptr;
}
abi::Status* CreateNode(const char* op, const char* domain, const char* name, const char* const* inputs,
                        std::size_t input_count, const char* const* outputs, std::size_t output_count,
                        abi::OpAttr** attributes, std::size_t attribute_count, abi::Node** node) {
  LB_FALLIBLE;
  if (call.lies()) {
    *node = nullptr;
    return nullptr;
  }
  auto made = std::make_unique<abi::Node>();
  made->name = name;
  made->node.op = op;
  made->node.domain = domain;
  made->node.inputs.assign(inputs, inputs + input_count);
  made->node.outputs.assign(outputs, outputs + output_count);
  for (std::size_t i = 0; i < attribute_count; ++i) {
    made->node.attributes.push_back(attributes[i]->attribute);
    dies("OpAttr", std::exchange(attributes[i], nullptr));
  }
  *node = born("Node", made.release());
  return nullptr;
}

// --- The tables ---

constexpr std::size_t kSlots = 512;
using Table = std::array<abi::Slot, kSlots>;

#define LB_PUT(slot, name, since, result, parameters)    \
  {                                                      \
    const decltype(abi::Tables::name) function = &name;  \
    table[slot] = reinterpret_cast<abi::Slot>(function); \
  }
const Table& ep_table() {
  static const Table filled = [] {
    Table table{};
    LB_PROVIDER_EP_API(LB_PUT)
    return table;
  }();
  return filled;
}
const Table& editor_table() {
  static const Table filled = [] {
    Table table{};
    LB_PROVIDER_EDITOR_API(LB_PUT)
    return table;
  }();
  return filled;
}
const abi::EpApi* GetEpApi() {
  LB_CALL;
  return call.answer(reinterpret_cast<const abi::EpApi*>(ep_table().data()));
}
const abi::EditorApi* GetModelEditorApi() {
  LB_CALL;
  return call.answer(reinterpret_cast<const abi::EditorApi*>(editor_table().data()));
}
const Table& main_table() {
  static const Table filled = [] {
    Table table{};
    LB_PROVIDER_API(LB_PUT)
    return table;
  }();
  return filled;
}
#undef LB_PUT

abi::ValueInfo& value_of(abi::Graph& graph, const std::string& name) {
  auto& value = graph.values[name];
  if (value != nullptr) return *value;
  value = std::make_unique<abi::ValueInfo>();
  value->name = name;
  value->type.tensor = {static_cast<abi::ElementType>(1), graph.source.shape};
  if (const auto found = graph.source.initializers.find(name); found != graph.source.initializers.end()) {
    graph.initializers.push_back(std::make_unique<abi::Value>(abi::Value{found->second}));
    value->initializer = graph.initializers.back().get();
    value->type.tensor = {static_cast<abi::ElementType>(found->second.type), found->second.shape};
  }
  return *value;
}

std::unique_ptr<abi::Node> hosted_node(abi::Graph& graph, const HostNode& source, std::string name) {
  auto node = std::make_unique<abi::Node>();
  node->node = source;
  node->name = std::move(name);
  for (const std::string& input : source.inputs)
    node->inputs.push_back(input.empty() ? nullptr : &value_of(graph, input));
  for (const std::string& output : source.outputs)
    node->outputs.push_back(&value_of(graph, output));
  for (const HostAttribute& attribute : source.attributes)
    node->attributes.push_back(std::make_unique<abi::OpAttr>(abi::OpAttr{attribute}));
  return node;
}

std::unique_ptr<abi::Graph> hosted(const HostGraph& source) {
  auto graph = std::make_unique<abi::Graph>();
  graph->source = source;
  for (std::size_t i = 0; i < source.nodes.size(); ++i)
    graph->nodes.push_back(hosted_node(*graph, source.nodes[i], "node" + std::to_string(i)));
  for (const std::string& output : source.outputs)
    graph->outputs.push_back(&value_of(*graph, output));
  return graph;
}

}  // namespace

void fault_host_call(std::uint64_t n, HostFault fault) {
  const std::lock_guard lock(state().mutex);
  state().calls = 0;
  state().faulty_call = n;
  state().fault = fault;
  state().faulted.clear();
}

std::uint64_t host_calls() {
  const std::lock_guard lock(state().mutex);
  return state().calls;
}

std::string faulted_function() {
  const std::lock_guard lock(state().mutex);
  return state().faulted;
}

std::string host_objects_alive() {
  const std::lock_guard lock(state().mutex);
  std::map<std::string, int> counts;
  for (const auto& [object, kind] : state().alive)
    ++counts[kind];
  std::string text;
  for (const auto& [kind, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  return text;
}

std::string host_defects() {
  const std::lock_guard lock(state().mutex);
  return state().defects;
}

const abi::ApiBase& host_base(std::uint32_t newest) {
  static std::atomic<std::uint32_t> limit;
  limit = newest;
  static const abi::ApiBase base{
      [](std::uint32_t version) -> const abi::Slot* { return version <= limit ? main_table().data() : nullptr; },
      []() -> const char* { return "1.24.0-fake"; }};
  return base;
}

void set_environment(std::map<std::string, std::string> entries) {
  const std::lock_guard lock(state().mutex);
  state().environment = std::move(entries);
}

namespace {

abi::Logger& logger() {
  static auto* one = new abi::Logger;
  return *one;
}

}  // namespace

const abi::Logger* host_logger() {
  return &logger();
}

std::vector<std::string> take_log() {
  const std::lock_guard lock(logger().mutex);
  return std::exchange(logger().lines, {});
}

std::string take_status(abi::Status* status) {
  if (status == nullptr) return {};
  std::string text = status->text.empty() ? "an error without a text" : status->text;
  dies("Status", status);
  return text;
}

HostedGraph::HostedGraph() = default;
HostedGraph::HostedGraph(const HostGraph& graph) : graph_(hosted(graph)) {}
HostedGraph::~HostedGraph() = default;

std::unique_ptr<HostedGraph> HostedGraph::part(const std::vector<const abi::Node*>& nodes) const {
  HostGraph source = graph_->source;
  source.nodes.clear();
  source.inputs.clear();
  source.outputs.clear();
  std::set<std::string> made;
  for (const auto& node : graph_->nodes) {
    const bool is_in = std::ranges::find(nodes, node.get()) != nodes.end();
    if (is_in) source.nodes.push_back(node->node);
    for (const std::string& output : node->node.outputs)
      if (is_in) made.insert(output);
  }
  const auto add_once = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (const auto& node : graph_->nodes) {
    const bool is_in = std::ranges::find(nodes, node.get()) != nodes.end();
    for (const std::string& input : node->node.inputs) {
      if (is_in && !made.contains(input) && !source.initializers.contains(input)) add_once(source.inputs, input);
      if (!is_in && made.contains(input)) add_once(source.outputs, input);
    }
  }
  for (const std::string& output : graph_->source.outputs)
    if (made.contains(output)) add_once(source.outputs, output);
  auto part = std::unique_ptr<HostedGraph>(new HostedGraph);
  part->graph_ = hosted(source);
  part->fused_ = hosted_node(*part->graph_, {"Fused", source.inputs, source.outputs, {}, "", 0}, "Latebind_0");
  return part;
}

HostNode take_node(abi::Node* node) {
  HostNode taken = node != nullptr ? node->node : HostNode{};
  dies("Node", node);
  return taken;
}

HostedOptions::HostedOptions(std::map<std::string, std::string> entries)
    : session_(std::make_unique<abi::SessionOptions>(abi::SessionOptions{entries, {}})),
      run_(std::make_unique<abi::RunOptions>(abi::RunOptions{std::move(entries)})) {}
HostedOptions::~HostedOptions() = default;

std::vector<std::vector<const abi::Node*>> capability(abi::Ep& ep, const HostedGraph& graph, std::string& error) {
  const Spared spared;
  abi::GraphSupportInfo support;
  error = take_status(by_provider([&] { return ep.GetCapability(&ep, graph.get(), &support); }));
  return support.parts;
}

std::vector<HostTensor> compute(abi::NodeComputeInfo& info, const std::vector<HostTensor>& inputs, std::size_t outputs,
                                std::string& error) {
  const Spared spared;
  abi::KernelContext context;
  for (const HostTensor& input : inputs)
    context.inputs.push_back(std::make_unique<abi::Value>(abi::Value{input}));
  context.outputs.resize(outputs);
  void* its_state = nullptr;
  error = take_status(by_provider([&] { return info.CreateState(&info, nullptr, &its_state); }));
  if (error.empty()) error = take_status(by_provider([&] { return info.Compute(&info, its_state, &context); }));
  info.ReleaseState(&info, its_state);
  std::vector<HostTensor> made;
  for (const auto& output : context.outputs)
    made.push_back(output != nullptr ? output->tensor : HostTensor{});
  return made;
}

const abi::HardwareDevice* host_hardware(abi::HardwareDeviceType type) {
  static const std::array<abi::HardwareDevice, 3> all{
      {{abi::kHardwareCpu, {}}, {abi::kHardwareGpu, {}}, {abi::kHardwareNpu, {}}}};
  return &all.at(static_cast<std::size_t>(type));
}

std::vector<OfferedDevice> offered(abi::EpFactory& factory, const std::vector<const abi::HardwareDevice*>& hardware,
                                   std::string& error) {
  const Spared spared;
  std::array<abi::EpDevice*, 16> devices{};
  std::size_t count = 0;
  error = take_status(by_provider([&] {
    return factory.GetSupportedDevices(&factory, hardware.data(), hardware.size(), devices.data(), devices.size(),
                                       &count);
  }));
  std::vector<OfferedDevice> made;
  for (std::size_t i = 0; i < count; ++i) {
    if (error.empty() && devices.at(i) != nullptr) {
      made.push_back({devices.at(i)->hardware, devices.at(i)->metadata, devices.at(i)->hardware->metadata});
    }
    dies("EpDevice", devices.at(i));
  }
  return made;
}

abi::Ep* create_ep(abi::EpFactory& factory, const OfferedDevice& device, const HostedOptions& options,
                   std::string& error) {
  const Spared spared;
  const abi::HardwareDevice* hardware = device.hardware;
  const abi::KeyValuePairs pairs{device.metadata, {}, {}};
  const abi::KeyValuePairs* metadata = &pairs;
  abi::Ep* ep = nullptr;
  error = take_status(by_provider(
      [&] { return factory.CreateEp(&factory, &hardware, &metadata, 1, options.session(), host_logger(), &ep); }));
  return ep;
}

}  // namespace latebind::test
