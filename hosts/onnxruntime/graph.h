// GraphView: a graph of the host, read once. It has the nodes in topological order, and writes any part of them as
// ONNX.
//
// It borrows everything from the host and is valid during the callback that was given the graph. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/platform/files/mapped_file.h"
#include "hosts/onnxruntime/given_initializers.h"
#include "hosts/onnxruntime/host.h"
#include "hosts/onnxruntime/model_file.h"

namespace latebind::provider {

// A tensor between nodes.
struct ValueView {
  const abi::ValueInfo* raw = nullptr;  // null: an optional input that is missing
  std::string name;
};

struct NodeView {
  const abi::Node* raw = nullptr;
  std::string name;
  std::string op;
  std::string domain;
  int since = 0;  // the version of the operator set that last changed the operator
  std::vector<ValueView> inputs;
  std::vector<ValueView> outputs;
  std::size_t subgraphs = 0;

  // For messages: "MatMul 'layer.0'".
  [[nodiscard]] std::string text() const { return name.empty() ? op : op + " '" + name + "'"; }
};

// What is known about a value's type before a run.
struct TypeView {
  bool is_tensor = false;
  std::int32_t type = 0;  // LB_F32 …; 0 for types that Latebind does not have
  std::int32_t onnx_type = 0;
  bool has_shape = false;
  std::vector<std::int64_t> shape;   // LB_DYNAMIC for unknown dimensions
  std::vector<std::string> symbols;  // names of dimensions; "" for dimensions without a name
};

// Weights outside of an ONNX model: in a file of the application, or in a temporary file for weights that the host has
// only in memory.
struct ExternalWeights {
  std::string location;  // the name in the model
  std::shared_ptr<const platform::MappedFile> file;
  bool is_temporary = false;
};

enum class WeightsPlace : std::uint8_t {
  kInModel,         // for compilers: everything is in one file
  kBesideWhenMany,  // for parts that run here: large weights stay in their files
};

// A part of a graph as an ONNX model with all its weights.
struct OnnxPart {
  std::string model;
  std::vector<ExternalWeights> weights;  // empty if the weights are small and in the model
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

[[nodiscard]] TypeView type_of(const Host& host, const ValueView& value);

class GraphView {
 public:
  // `given` are the application's initializers, which a part treats as inputs.
  GraphView(const Host& host, const abi::Graph* graph, const GivenInitializers& given);

  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const std::vector<NodeView>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_within_a_node() const { return is_within_a_node_; }
  [[nodiscard]] TypeView type_of(const ValueView& value) const { return provider::type_of(host_, value); }
  // False for initializers that the application gives: their values are not those of the graph.
  [[nodiscard]] bool is_constant(const ValueView& value) const;
  // Whether a node at one of these indices uses such an initializer.
  [[nodiscard]] bool has_given(std::span<const std::size_t> nodes) const;

  // The nodes at these ascending indices as a model. Constant initializers are copied, since the host drops its own
  // after the nodes have been fused; large ones that are in a file are referred to instead. Throws Failure if there is
  // more data than a model can contain.
  [[nodiscard]] OnnxPart part(std::span<const std::size_t> nodes, WeightsPlace place) const;
  // Identifies a part while a session is created: its nodes by operator, inputs and outputs, independent of the host's
  // order.
  [[nodiscard]] std::string key(std::span<const std::size_t> nodes) const;
  // Whether a value of the part is used outside of it.
  [[nodiscard]] bool makes_anything(std::span<const std::size_t> nodes) const { return !outputs_of(nodes).empty(); }

 private:
  [[nodiscard]] std::vector<ValueView> outputs_of(std::span<const std::size_t> nodes) const;
  [[nodiscard]] std::shared_ptr<const ModelFile> model_file() const;

  const Host& host_;
  const GivenInitializers& given_;
  std::filesystem::path path_;                                          // of the model; "" for a model in memory
  mutable std::optional<std::shared_ptr<const ModelFile>> model_file_;  // opened when a part first needs it
  std::vector<NodeView> nodes_;
  std::set<std::string> graph_outputs_;
  std::int64_t ir_version_ = 0;
  std::int64_t opset_ = 0;
  bool is_within_a_node_ = false;
};

// Converts ONNX's number of a type to LB_F32 and so on; 0 for types that Latebind does not have.
[[nodiscard]] std::int32_t latebind_type(abi::ElementType type);

// The value of a node's attribute of that kind; "" or `otherwise` if it is missing.
[[nodiscard]] std::string text_attribute(const Host& host, const abi::Node* node, const char* name);
[[nodiscard]] std::int64_t int_attribute(const Host& host, const abi::Node* node, const char* name,
                                         std::int64_t otherwise);

// A node's inputs or outputs, in order.
[[nodiscard]] std::vector<ValueView> node_inputs(const Host& host, const abi::Node* node);
[[nodiscard]] std::vector<ValueView> node_outputs(const Host& host, const abi::Node* node);

}  // namespace latebind::provider
