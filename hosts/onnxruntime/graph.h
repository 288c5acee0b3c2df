// A graph of the host, read once: its nodes in topological order, and any part of it as ONNX.
//
// GraphView borrows everything from the host and is valid during the callback that was given the graph. One thread.
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
  const abi::ValueInfo* raw = nullptr;  // null: an optional input that is not given
  std::string name;
};

struct NodeView {
  const abi::Node* raw = nullptr;
  std::string name;
  std::string op;
  std::string domain;
  int since = 0;  // the version of the operator set in which the operator last changed
  std::vector<ValueView> inputs;
  std::vector<ValueView> outputs;
  std::size_t subgraphs = 0;

  // "MatMul 'layer.0'", for messages.
  [[nodiscard]] std::string text() const { return name.empty() ? op : op + " '" + name + "'"; }
};

// What is known of a value's type before a run.
struct TypeView {
  bool is_tensor = false;
  std::int32_t type = 0;  // LB_F32 …; 0 for types that Latebind does not have
  std::int32_t onnx_type = 0;
  bool has_shape = false;
  std::vector<std::int64_t> shape;   // LB_DYNAMIC where not known
  std::vector<std::string> symbols;  // names of dimensions, "" where there is none
};

// Weights outside of an ONNX model: in a file of the application's, or in a temporary one of what the host has in
// memory only.
struct ExternalWeights {
  std::string location;  // as the model names them
  std::shared_ptr<const platform::MappedFile> file;
  bool is_temporary = false;
};

enum class WeightsPlace : std::uint8_t {
  kInModel,         // for compilers: one file has all
  kBesideWhenMany,  // for what is run here: many are left in their files
};

// A part of a graph as an ONNX model, with everything that it needs.
struct OnnxPart {
  std::string model;
  std::vector<ExternalWeights> weights;  // none where they are few, and in the model
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

[[nodiscard]] TypeView type_of(const Host& host, const ValueView& value);

class GraphView {
 public:
  // `given`: initializers that the application gives, which are inputs as far as a part is concerned.
  GraphView(const Host& host, const abi::Graph* graph, const GivenInitializers& given);

  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const std::vector<NodeView>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_within_a_node() const { return is_within_a_node_; }
  [[nodiscard]] TypeView type_of(const ValueView& value) const { return provider::type_of(host_, value); }
  // False for an initializer that the application gives: its value is not the graph's.
  [[nodiscard]] bool is_constant(const ValueView& value) const;
  // Whether any of the nodes at these places has such an initializer.
  [[nodiscard]] bool has_given(std::span<const std::size_t> nodes) const;

  // The nodes at these places, ascending. Constant initializers are copied, since the host drops its own when the nodes
  // have been fused; many of them are referred to where a file has them. Throws Failure for more than a model can have
  // in it.
  [[nodiscard]] OnnxPart part(std::span<const std::size_t> nodes, WeightsPlace place) const;
  // What identifies a part while a session is made: its nodes by operator, inputs and outputs, in no order of the
  // host's.
  [[nodiscard]] std::string key(std::span<const std::size_t> nodes) const;
  // Whether anything that a part makes is used outside of it.
  [[nodiscard]] bool makes_anything(std::span<const std::size_t> nodes) const { return !outputs_of(nodes).empty(); }

 private:
  [[nodiscard]] std::vector<ValueView> outputs_of(std::span<const std::size_t> nodes) const;
  [[nodiscard]] std::shared_ptr<const ModelFile> model_file() const;

  const Host& host_;
  const GivenInitializers& given_;
  std::filesystem::path path_;                                          // of the model; "" for one in memory
  mutable std::optional<std::shared_ptr<const ModelFile>> model_file_;  // opened when a part first needs it
  std::vector<NodeView> nodes_;
  std::set<std::string> graph_outputs_;
  std::int64_t ir_version_ = 0;
  std::int64_t opset_ = 0;
  bool is_within_a_node_ = false;
};

// LB_F32 for ONNX's number of it and so on; 0 for types that Latebind does not have.
[[nodiscard]] std::int32_t latebind_type(abi::ElementType type);

// The values of a node's attribute of that kind; "" and 0 when there is none.
[[nodiscard]] std::string text_attribute(const Host& host, const abi::Node* node, const char* name);
[[nodiscard]] std::int64_t int_attribute(const Host& host, const abi::Node* node, const char* name,
                                         std::int64_t otherwise);

// Names of a node's inputs or outputs, in order.
[[nodiscard]] std::vector<ValueView> node_inputs(const Host& host, const abi::Node* node);
[[nodiscard]] std::vector<ValueView> node_outputs(const Host& host, const abi::Node* node);

}  // namespace latebind::provider
