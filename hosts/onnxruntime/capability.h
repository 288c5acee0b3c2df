// Capability: the nodes of a graph that Latebind takes, divided into parts that each become one node.
//
// A node is left to the host if Latebind does not support its types or its operator, or if its vendor computes it
// differently from ONNX (core/onnx/known_errors.h). The rest is tried: first as a whole, and if no device takes that,
// each kind of node alone, and then the parts without the kinds that failed. Parts with few nodes are left to the host,
// too. For the thread that creates the session.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/onnx/known_errors.h"
#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

struct Capability {
  std::vector<std::vector<std::size_t>> parts;  // for each part, the ascending indices of its nodes in the graph
  std::vector<std::string> left;                // one line for each node left to the host: which one and why
};

// Tries to load a part. Returns "" if a device takes it, and otherwise the reason.
using Trial = std::function<std::string(const std::vector<std::size_t>& nodes)>;

// `trial` may be empty for compiling, where the compiler rejects nodes later.
[[nodiscard]] Capability capability_of(const GraphView& graph, const onnx::KnownErrors& errors, const Trial& trial);

// Whether the node is a compiled model that Latebind wrote.
[[nodiscard]] bool is_our_context(const Host& host, const NodeView& node);

}  // namespace latebind::provider
