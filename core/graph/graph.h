// Graph: a network in Latebind's own representation. A backend computes from it, or has it written in the format that
// it reads.
//
// Made by an architecture (embedding/architectures/) with a GraphBuilder, which checks it; afterwards immutable, for
// any thread. Nodes are in an order in which they can be computed, and each has one value. Weights stay in place, in
// mapped files that the graph keeps open. operators.h defines the operators.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/operators.h"
#include "core/result.h"
#include "core/shared_bytes.h"
#include "core/tensor.h"

namespace latebind::graph {

struct Node {
  Operator op;
  // Of the value.
  core::ElementType type = core::ElementType::kF32;
  core::Shape shape;
};

// What a graph gives: the value of a node, under a name.
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

  // The files with the weights, each whole or a part of a larger one: what Weight::offset counts from.
  [[nodiscard]] std::span<const core::FilePart> weights() const { return weights_; }
  [[nodiscard]] std::span<const std::byte> bytes_of(const Weight& weight) const;

 private:
  friend class GraphBuilder;
  Graph() = default;

  std::vector<Node> nodes_;
  std::vector<GraphOutput> outputs_;
  std::vector<core::FilePart> weights_;
};

// Builds a graph, node by node. The first error is remembered and what follows is ignored: finish() returns it. One
// thread at a time.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::vector<core::FilePart> weights) { graph_.weights_ = std::move(weights); }
  // From one file.
  explicit GraphBuilder(core::FilePart weights) : GraphBuilder(std::vector{std::move(weights)}) {}

  Value add(Operator op);
  // kInvalidModel, naming the first operator whose operands do not fit and the weight.
  [[nodiscard]] core::Result<Graph> finish(std::vector<GraphOutput> outputs) &&;
  [[nodiscard]] core::Result<Graph> finish(Value output, std::string name) && {
    return std::move(*this).finish({{output, std::move(name)}});
  }

 private:
  Graph graph_;
  core::Status status_;
};

// Whether both are the same numbers: at one place of one file.
[[nodiscard]] bool is_same(const Weight& a, const Weight& b);

// Of the bias's table: the row for tokens at this distance. As DistanceBias says.
[[nodiscard]] std::int64_t bucket_of(const DistanceBias& bias, std::int64_t distance);

// Of Rotary for heads of `width` columns, as its source has them: base^(-2i / width), power and quotient rounded to
// f32.
[[nodiscard]] std::vector<float> rotary_frequencies(double base, std::int64_t width);

// Of the angles by which Rotary turns, each times its factor: [positions, frequencies].
struct Turns {
  std::vector<float> cosines;
  std::vector<float> sines;
};
[[nodiscard]] Turns turns_of(const Rotary& rotary);

// All of the graph but the weights' bytes as text, the same for the same graph: what it computes, with every number
// exact. For identification and for reading.
[[nodiscard]] std::string describe(const Graph& graph);

}  // namespace latebind::graph
