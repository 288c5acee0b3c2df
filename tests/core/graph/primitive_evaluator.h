// Computes a lowered Graph: what the writers write, without any vendor.
#pragma once

#include "array.h"
#include "core/graph/graph.h"
#include "core/graph/primitives.h"

namespace latebind::graph::testing {

// `graph` is the one that was lowered, which has the weights.
[[nodiscard]] Array evaluate(const PrimitiveNetwork& network, const Graph& graph, const Inputs& inputs);

}  // namespace latebind::graph::testing
