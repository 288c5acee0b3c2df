// Graph: a network in Latebind's own representation. A backend computes from it, or writes it in the format that it
// reads.
//
// An architecture (embedding/architectures/) makes a graph with a GraphBuilder, which checks it. Afterwards it is
// immutable and may be used from any thread. Nodes are in an order in which they can be computed, and each has one
// value. Weights stay in place, in mapped files that the graph keeps open. operators.h defines the operators.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/operators.h"
#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "core/tensor/tensor.h"

namespace latebind::graph {

struct Node {
  Operator op;
  // The type and shape of the node's value.
  core::ElementType type = core::ElementType::kF32;
  core::Shape shape;
};

// An output of a graph: the value of a node, under a name.
struct GraphOutput {
  Value value;
  std::string name;
};

class Graph {
 public:
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] const Node& node(Value value) const { return nodes_[value.node]; }
  // At least one. Most graphs have one, which output() and output_name() are about.
  [[nodiscard]] std::span<const GraphOutput> outputs() const { return outputs_; }
  [[nodiscard]] Value output() const { return outputs_.front().value; }
  [[nodiscard]] const std::string& output_name() const { return outputs_.front().name; }

  // The files with the weights, each a whole file or a part of a larger one. Weight::offset counts from their
  // beginning.
  [[nodiscard]] std::span<const core::FilePart> weights() const { return weights_; }
  // If a part's bytes are computed when they are read (FilePart::computed), this computes all of them.
  [[nodiscard]] std::span<const std::byte> bytes_of(const Weight& weight) const;

 private:
  friend class GraphBuilder;
  Graph() = default;

  std::vector<Node> nodes_;
  std::vector<GraphOutput> outputs_;
  std::vector<core::FilePart> weights_;
};

// Builds a graph, node by node. It remembers the first error and ignores the calls after it; finish() returns that
// error. One thread at a time.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::vector<core::FilePart> weights) { graph_.weights_ = std::move(weights); }
  // For weights in one file.
  explicit GraphBuilder(core::FilePart weights) : GraphBuilder(std::vector{std::move(weights)}) {}

  // Adds a node and returns its value.
  Value add(Operator op);
  // Returns the graph with these outputs. kInvalidModel names the first operator whose operands do not fit, and the
  // weight.
  [[nodiscard]] core::Result<Graph> finish(std::vector<GraphOutput> outputs) &&;
  [[nodiscard]] core::Result<Graph> finish(Value output, std::string name) && {
    return std::move(*this).finish({{output, std::move(name)}});
  }

 private:
  Graph graph_;
  core::Status status_;
};

// Whether both refer to the same numbers: to one place in one file.
[[nodiscard]] bool is_same(const Weight& a, const Weight& b);

// Returns the row of the bias's table for tokens at this distance, as DistanceBias defines it.
[[nodiscard]] std::int64_t bucket_of(const DistanceBias& bias, std::int64_t distance);

// Returns the row of the tables for the distance t - s: row() in the definition of Disentangled.
[[nodiscard]] std::int64_t row_of(const Disentangled& terms, std::int64_t distance);
// Returns the smallest distance from which, in both directions, all distances use the first or the last row.
[[nodiscard]] std::int64_t farthest_of(const Disentangled& terms);

// Returns the frequencies of Rotary for heads of `width` columns, as its source defines them: base^(-2i / width), where
// power and quotient are rounded to f32.
[[nodiscard]] std::vector<float> rotary_frequencies(double base, std::int64_t width);

// The cosines and sines of the angles by which Rotary turns, each times its factor: [positions, frequencies].
struct Turns {
  std::vector<float> cosines;
  std::vector<float> sines;
};
[[nodiscard]] Turns turns_of(const Rotary& rotary);

// Returns everything in the graph except the weights' bytes as text. The same graph gives the same text, and every
// number is exact. For identification and for people.
[[nodiscard]] std::string describe(const Graph& graph);

}  // namespace latebind::graph
