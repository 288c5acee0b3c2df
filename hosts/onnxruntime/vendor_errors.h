// What a vendor's version computes otherwise than ONNX says, though it takes the model: such nodes are left to the
// host.
//
// The table is made from ONNX's own node tests by tests/hosts/onnxruntime/node_tests.py, which says what is wrong
// without it. A pure function, any thread.
#pragma once

#include <span>
#include <string>

#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

// Why the node is not computed as ONNX says, "" when nothing is known against it. `inputs` has an empty type for each
// that is not given.
[[nodiscard]] std::string vendor_error(const GraphView& graph, const NodeView& node, std::span<const TypeView> inputs);

}  // namespace latebind::provider
