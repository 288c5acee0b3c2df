// Converts the host's graph to the form that core/onnx examines. For the thread that creates the session.
#pragma once

#include "core/onnx/network.h"
#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

// The graph's nodes in their order, with their attributes but without subgraphs, which are left to the host. The host
// owns the data of constants, which lives as long as `graph`. Throws Failure.
[[nodiscard]] onnx::OnnxNetwork onnx_network_of(const GraphView& graph);

}  // namespace latebind::provider
