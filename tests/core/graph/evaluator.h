// Computes a Graph for one batch, slowly and plainly, each operator as operators.h says it: the reference.
#pragma once

#include "array.h"
#include "core/graph/graph.h"

namespace latebind::graph::testing {

[[nodiscard]] Array evaluate(const Graph& graph, const Inputs& inputs);

[[nodiscard]] Array activate(Array x, ActivationFunction function);

}  // namespace latebind::graph::testing
