// The host's graph as core/onnx looks at networks.
#pragma once

#include "core/onnx/network.h"
#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

// The graph's nodes in their order, with their attributes, but for graphs within nodes, which are left to the host. The
// data of constants is the host's, and lives as long as `graph`. Throws Failure.
[[nodiscard]] onnx::OnnxNetwork onnx_network_of(const GraphView& graph);

}  // namespace latebind::provider
