// Graph: a network in our own words, small enough that each model format can be written from it in one file.
//
// Made by an architecture (bert.cpp), read by the writers (onnx_writer.cpp, openvino_ir_writer.cpp). Nodes stand in an
// order in which they can be computed, and each has exactly one value. Weights are referred to where they lie, in a
// mapped file that must outlive the graph; small constants are its own. One thread at a time while it is being built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "embedding/safetensors.h"

namespace latebind::embedding {

enum class Operator {
  kInput,      // shape: dimensions, -1 where dynamic
  kWeight,     // bytes lie in the weights file at `offset`; shape
  kConstant,   // bytes are the graph's own; shape
  kConvert,    // to `type`
  kGather,     // data, indices; axis
  kGatherRow,  // data [b,t,h], indices [b,1] -> [b,h]: one row of each
  kFirstRows,  // table [n,h], like [b,t] -> [t,h]: as many rows as `like` has columns
  kAdd,        // with broadcasting, as the three below
  kSubtract,
  kMultiply,
  kDivide,
  kMaximum,
  kMatMul,     // a, b; transpose_b: the last two dimensions of b are swapped
  kReshape,    // axes: the new shape, 0 keeps a dimension, -1 is what is left
  kTranspose,  // axes: permutation
  kUnsqueeze,  // axes
  kSqueeze,    // axes
  kSoftmax,    // over the last dimension
  kLayerNorm,  // x, weight, bias; over the last dimension; epsilon
  kGeluErf,
  kGeluTanh,
  kRelu,
  kReduceSum,  // axes, keep_dimensions
  kReduceMax,  // as above
  kReduceL2,   // as above
};

// A node's value; valid for the graph that gave it.
struct Value {
  std::uint32_t node = 0;
};

struct Node {
  Operator op = Operator::kInput;
  std::string name;  // unique; of weights and inputs as the file or the caller names them
  core::ElementType type = core::ElementType::kF32;  // of the value
  std::vector<Value> inputs{};
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> axes{};
  std::int64_t axis = 0;
  double epsilon = 0;
  bool transpose_b = false;
  bool keep_dimensions = false;
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes{};
};

class Graph {
 public:
  Graph() = default;
  // Constants' bytes are referred to by nodes.
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  Value input(std::string_view name, core::ElementType type, std::initializer_list<std::int64_t> shape);
  // As it lies in the file: f16 and bf16 keep their type.
  Value weight(const StoredTensor& tensor);
  Value constant(float value);
  Value constant(std::int64_t value);
  Value constant(std::span<const std::int64_t> values);

  // Converts only when the type is another.
  Value convert(Value x, core::ElementType type);
  Value gather(Value data, Value indices, std::int64_t axis);
  Value gather_row(Value data, Value indices);
  Value first_rows(Value table, Value like);
  Value add(Value a, Value b) { return binary(Operator::kAdd, a, b); }
  Value subtract(Value a, Value b) { return binary(Operator::kSubtract, a, b); }
  Value multiply(Value a, Value b) { return binary(Operator::kMultiply, a, b); }
  Value divide(Value a, Value b) { return binary(Operator::kDivide, a, b); }
  Value maximum(Value a, Value b) { return binary(Operator::kMaximum, a, b); }
  Value matmul(Value a, Value b, bool transpose_b);
  Value reshape(Value x, std::initializer_list<std::int64_t> shape);
  Value transpose(Value x, std::initializer_list<std::int64_t> permutation);
  Value unsqueeze(Value x, std::initializer_list<std::int64_t> axes);
  Value squeeze(Value x, std::initializer_list<std::int64_t> axes);
  Value softmax(Value x);
  Value layer_norm(Value x, Value weight, Value bias, double epsilon);
  // kGeluErf, kGeluTanh or kRelu.
  Value activation(Operator op, Value x);
  // kReduceSum, kReduceMax or kReduceL2.
  Value reduce(Operator op, Value x, std::initializer_list<std::int64_t> axes, bool keep_dimensions);

  // The graph's one output. `shape` as for inputs.
  void set_output(Value x, std::string name, std::initializer_list<std::int64_t> shape);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] const Node& node(Value x) const { return nodes_[x.node]; }
  [[nodiscard]] Value output() const { return output_; }
  [[nodiscard]] const std::string& output_name() const { return output_name_; }
  [[nodiscard]] const std::vector<std::int64_t>& output_shape() const { return output_shape_; }

 private:
  Value append(Node node);
  Value binary(Operator op, Value a, Value b);
  Value own(core::ElementType type, std::vector<std::int64_t> shape, std::span<const std::byte> bytes);

  std::vector<Node> nodes_;
  std::deque<std::vector<std::byte>> constants_;
  Value output_{};
  std::string output_name_;
  std::vector<std::int64_t> output_shape_;
};

}  // namespace latebind::embedding
