// A small imitation of ONNX Runtime as a host of plugin execution providers: the slots that Latebind's provider uses,
// on our own declarations, so that the provider runs under sanitizers and every answer of the host can be made a fault.
//
// It keeps account of every object that a provider makes or is given to own. Objects belong to the process; one test at
// a time configures it, and any thread may call what it hands out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hosts/onnxruntime/abi.h"
#include "tests/support/failing_new.h"

namespace latebind::test {

namespace abi = provider::abi;

// What one call of the provider into the host comes to.
enum class HostFault {
  kFails,    // a status; functions without one give null
  kNull,     // success, and everything that is written is 0 or null
  kGarbage,  // success, and numbers are enormous, texts no UTF-8, enumerators out of range
};

// What the provider does, while the test's own allocations are spared.
template <class Body>
auto by_provider(Body body) {
  const Spared::Pause counted;
  return body();
}

// From now on the n-th call, from 1, goes wrong; 0: none. Counts anew.
void fault_host_call(std::uint64_t n, HostFault fault);
// Calls since then, and the function that went wrong; "" when none was reached.
[[nodiscard]] std::uint64_t host_calls();
[[nodiscard]] std::string faulted_function();

// "2 KeyValuePairs, 1 Status" of what the provider has not given back or was given and not released; "" for nothing.
[[nodiscard]] std::string host_objects_alive();
// What was released twice or is of another kind; "" when all was right.
[[nodiscard]] std::string host_defects();

// The base whose table of functions has up to this version 1.N.
[[nodiscard]] const abi::ApiBase& host_base(std::uint32_t newest = abi::kVersion);

// What the host's environment is configured with.
void set_environment(std::map<std::string, std::string> entries);
// The lines that were logged since the last call.
[[nodiscard]] std::vector<std::string> take_log();
[[nodiscard]] const abi::Logger* host_logger();

// The text of a status, which is released; "" for success.
[[nodiscard]] std::string take_status(abi::Status* status);

// --- What a session has ---

struct HostTensor {
  std::int32_t type = 1;  // ONNX's number
  std::vector<std::int64_t> shape;
  std::string bytes;
};

struct HostAttribute {
  std::string name;
  abi::OpAttrType type = abi::kAttrString;
  std::string bytes;  // numbers as they are in memory; strings each with a NUL
};

struct HostNode {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<HostAttribute> attributes;
  std::string domain;
  std::size_t subgraphs = 0;
};

// Values are f32 of the given shape, -1 for dimensions that only a run knows.
struct HostGraph {
  std::vector<HostNode> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, HostTensor> initializers;
  std::vector<std::int64_t> shape{-1, 2};
  std::string path;
};

// A graph as the host hands it out, alive until it is destroyed.
class HostedGraph {
 public:
  explicit HostedGraph(const HostGraph& graph);
  HostedGraph(const HostedGraph&) = delete;
  HostedGraph& operator=(const HostedGraph&) = delete;
  ~HostedGraph();
  [[nodiscard]] const abi::Graph* get() const { return graph_.get(); }
  // The graph of some of its nodes, as the host gives it to Compile, and the node that they become.
  [[nodiscard]] std::unique_ptr<HostedGraph> part(const std::vector<const abi::Node*>& nodes) const;
  [[nodiscard]] const abi::Node* fused() const { return fused_.get(); }

 private:
  HostedGraph();
  std::unique_ptr<abi::Graph> graph_;
  std::unique_ptr<abi::Node> fused_;
};

// What an EPContext node of the provider says; takes the node, null for null.
[[nodiscard]] HostNode take_node(abi::Node* node);

// Settings of a session and of a run.
class HostedOptions {
 public:
  explicit HostedOptions(std::map<std::string, std::string> entries);
  HostedOptions(const HostedOptions&) = delete;
  HostedOptions& operator=(const HostedOptions&) = delete;
  ~HostedOptions();
  [[nodiscard]] const abi::SessionOptions* session() const { return session_.get(); }
  [[nodiscard]] const abi::RunOptions* run() const { return run_.get(); }

 private:
  std::unique_ptr<abi::SessionOptions> session_;
  std::unique_ptr<abi::RunOptions> run_;
};

// Which nodes the provider asked to fuse.
[[nodiscard]] std::vector<std::vector<const abi::Node*>> capability(abi::Ep& ep, const HostedGraph& graph,
                                                                    std::string& error);

// Calls a fused node; `error` is "" when it worked.
[[nodiscard]] std::vector<HostTensor> compute(abi::NodeComputeInfo& info, const std::vector<HostTensor>& inputs,
                                              std::size_t outputs, std::string& error);

// A piece of hardware of the host.
[[nodiscard]] const abi::HardwareDevice* host_hardware(abi::HardwareDeviceType type);
// The devices that a factory offers, which the host owns from then on.
struct OfferedDevice {
  const abi::HardwareDevice* hardware = nullptr;
  std::map<std::string, std::string> metadata;
  std::map<std::string, std::string> hardware_metadata;
};
[[nodiscard]] std::vector<OfferedDevice> offered(abi::EpFactory& factory,
                                                 const std::vector<const abi::HardwareDevice*>& hardware,
                                                 std::string& error);
// A session's provider for one piece of hardware, null with `error`.
[[nodiscard]] abi::Ep* create_ep(abi::EpFactory& factory, const OfferedDevice& device, const HostedOptions& options,
                                 std::string& error);

}  // namespace latebind::test
