// Computes a lowered Graph as its primitives mean it, without any vendor.
#pragma once

#include "core/graph/graph.h"
#include "core/graph/primitives.h"
#include "kit/reference/array.h"

namespace latebind::graph::testing {

// `graph` is the one that was lowered, which has the weights.
[[nodiscard]] kit::Array evaluate(const PrimitiveNetwork& network, const Graph& graph, const kit::Inputs& inputs);

}  // namespace latebind::graph::testing
