// Computes a Graph for one batch, slowly and plainly, each operator as operators.h says it: the reference.
#pragma once

#include <optional>

#include "array.h"
#include "core/graph/graph.h"

namespace latebind::graph::testing {

// With `bits`, each operator's numbers are rounded to so many significant ones, and sums of products after each of them
// as in f32: what little there is of that shows how much a network makes of rounding.
[[nodiscard]] Array evaluate(const Graph& graph, const Inputs& inputs, std::optional<int> bits = std::nullopt);

[[nodiscard]] Array activate(Array x, ActivationFunction function);

}  // namespace latebind::graph::testing
