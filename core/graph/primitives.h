// Primitives: operators that every model format has in some form, and a network of them. Writers visit the variant and
// write each primitive in their format's terms.
//
// lower() makes a PrimitiveNetwork from a Graph; it is dropped when it has been written. Plain values; one thread at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/graph/operators.h"
#include "core/tensor/tensor.h"

namespace latebind::graph {

namespace primitive {

// A small constant that owns its bytes.
struct Constant {
  core::ElementType type = core::ElementType::kF32;
  core::Shape shape;
  std::vector<std::byte> bytes;
};

// Converts to the type of the node.
struct Convert {
  Value x;
};

// Gathers along `axis` of data, whose dimension is replaced by those of indices.
struct Gather {
  Value data;
  Value indices;
  std::int64_t axis = 0;
};

// One row for each text: data [b,t,h], indices [b,1] -> [b,h]
struct GatherRow {
  Value data;
  Value indices;
};

// The first rows of the table, one for each column of `like`: table [n,h], like [b,t] -> [t,h]
struct FirstRows {
  Value table;
  Value like;
};

// The numbers 0, 1, 2 …, one for each column of `like` [b,t] -> i64 [t]
struct Positions {
  Value like;
};

// The sum of each row up to and including each column: x [b,t] -> as x
struct CumulativeSum {
  Value x;
};

// 1 where x is the number, else 0: x i64 -> as x
struct IsEqual {
  Value x;
  Value number;
};

enum class BinaryFunction : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide, kMaximum, kMinimum };

// Columns `first` to `first + count - 1` of the last dimension.
struct Slice {
  Value x;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Concatenates in the last dimension.
struct Concat {
  Value a;
  Value b;
};

// Broadcasts as NumPy does.
struct Binary {
  BinaryFunction function = BinaryFunction::kAdd;
  Value a;
  Value b;
};

// Multiplies matrices in the last two dimensions. The leading dimensions of b are those of a or a suffix of them, and b
// is broadcast over the rest. With transpose_b, the last two dimensions of b are swapped first.
struct MatMul {
  Value a;
  Value b;
  bool transpose_b = false;
};

// graph::Convolution without a bias, in the layout of vendors' formats: x [b,i,t], weight [o,i,width] -> [b,o,t].
struct Convolution {
  Value x;
  Value weight;
  std::int64_t width = 1;
};

// In `shape`, 0 keeps a dimension and -1 is inferred.
struct Reshape {
  Value x;
  std::vector<std::int64_t> shape;
};

struct Transpose {
  Value x;
  std::vector<std::int64_t> permutation;
};

// Unsqueeze inserts dimensions of 1 at these places of the result; Squeeze removes them.
struct Unsqueeze {
  Value x;
  std::vector<std::int64_t> axes;
};
struct Squeeze {
  Value x;
  std::vector<std::int64_t> axes;
};

// Over the last dimension.
struct Softmax {
  Value x;
};

// Keeps the `count` largest numbers of the last dimension, the first of equals, and replaces all others by 0.
struct KeepLargest {
  Value x;
  std::int64_t count = 1;
};

// As graph::LayerNorm.
struct LayerNorm {
  Value x;
  Value weight;
  std::optional<Value> bias;
  double epsilon = 0;
};

enum class ReduceFunction : std::uint8_t { kSum, kMean, kMax, kL2 };

// Applied to each number.
struct SquareRoot {
  Value x;
};

struct Reduce {
  ReduceFunction function = ReduceFunction::kSum;
  Value x;
  std::vector<std::int64_t> axes;
  bool keep_dimensions = false;
};

}  // namespace primitive

using Primitive =
    std::variant<Input, Weight, primitive::Constant, primitive::Convert, primitive::Gather, primitive::GatherRow,
                 primitive::FirstRows, primitive::Positions, primitive::CumulativeSum, primitive::IsEqual,
                 primitive::Slice, primitive::Concat, primitive::Binary, primitive::MatMul, primitive::Convolution,
                 primitive::Reshape, primitive::Transpose, primitive::Unsqueeze, primitive::Squeeze, primitive::Softmax,
                 primitive::KeepLargest, primitive::LayerNorm, Activation, primitive::SquareRoot, primitive::Reduce>;

struct PrimitiveNode {
  Primitive op;
  core::ElementType type = core::ElementType::kF32;  // of the node's value
};

struct PrimitiveOutput {
  Value value;
  std::string name;
  core::Shape shape;
};

// Nodes are in an order in which they can be computed. Every node is needed or is an input.
struct PrimitiveNetwork {
  std::vector<PrimitiveNode> nodes;
  std::vector<PrimitiveOutput> outputs;  // those of the graph, in their order

  [[nodiscard]] const PrimitiveNode& node(Value value) const { return nodes[value.node]; }
};

}  // namespace latebind::graph
