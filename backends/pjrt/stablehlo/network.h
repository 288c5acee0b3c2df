// Writes a Graph as one function of StableHLO for static shapes: inputs and weights are its arguments, in this order,
// and the graph's outputs are its results.
//
// No weight is a constant of the function, so that one upload serves all shapes of a model. Tables that the writer
// computes, such as the angles of rotary positions, are arguments, too. Norms, softmax, sums and results are in f32;
// the products of Linear, Attention, Convolution and Experts, and the weights that they use, are in the precision of
// the model. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "backends/pjrt/stablehlo/text.h"
#include "core/config.h"
#include "core/graph/graph.h"
#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::pjrt {

// An input of a network, and what its numbers must be. The device does not check them.
struct NetworkInput {
  core::TensorInfo info;           // with a static shape
  std::int64_t ids_end = 0;        // ids are from 0 to below this; 0: the input has no ids
  bool is_mask = false;            // 1 for tokens, 0 for padding
  bool may_be_unattended = false;  // a mask may have graph::kUnattended, too

  friend bool operator==(const NetworkInput& a, const NetworkInput& b) {
    return a.info.name == b.info.name && a.info.type == b.info.type && a.info.shape == b.info.shape &&
           a.ids_end == b.ids_end && a.is_mask == b.is_mask && a.may_be_unattended == b.may_be_unattended;
  }
};

// An argument that stays on the device: a weight, or a table that was computed.
struct NetworkConstant {
  Dims dims;
  Element element = Element::kF32;
  std::variant<graph::Weight, std::vector<float>, std::vector<std::int32_t>> from;
};

struct Network {
  std::string text;
  std::vector<NetworkInput> inputs;
  std::vector<NetworkConstant> constants;
  std::vector<core::TensorInfo> outputs;  // f32, with static shapes
};

// Returns the type of products in this precision. kUnsupported for int8 and fast.
[[nodiscard]] core::Result<Element> element_for(core::Precision precision);

// `input_shapes` are static, one for each input; empty: the shapes that the graph declares. Errors: kUnsupported for an
// operator or a member that is not written, by name, for a precision other than f32, bf16 and f16, and for shapes that
// are not static; kShapeMismatch for shapes that the model does not take.
[[nodiscard]] core::Result<Network> write_network(const graph::Graph& graph, std::span<const core::Shape> input_shapes,
                                                  core::Precision precision);

}  // namespace latebind::pjrt
