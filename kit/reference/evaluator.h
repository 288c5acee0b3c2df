// Computes a Graph for one batch as core/graph/operators.h defines each operator. This is the reference that tests and
// the conformance kit compare devices with: it is slow, plain and in double precision.
//
// The functions may be called from any thread. They throw std::logic_error or std::out_of_range for inputs that do not
// fit the graph, which is a defect of the caller.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "kit/reference/array.h"

namespace latebind::kit {

// Computes all outputs, in the order of Graph::outputs().
//
// With `bits`, the numbers of each operator are rounded to that many significant bits, and sums of products are rounded
// to f32 after each term. The distance from the exact result shows how much a network amplifies rounding.
[[nodiscard]] std::vector<Array> evaluate_all(const graph::Graph& graph, const Inputs& inputs,
                                              std::optional<int> bits = std::nullopt);

// Computes the first output.
[[nodiscard]] Array evaluate(const graph::Graph& graph, const Inputs& inputs, std::optional<int> bits = std::nullopt);

[[nodiscard]] Array activate(Array x, graph::ActivationFunction function);

}  // namespace latebind::kit
