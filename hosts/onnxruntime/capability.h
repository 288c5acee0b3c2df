// Capability: which nodes of a graph Latebind takes, as parts that each become one node.
//
// A node is left to the host where its types or its operator are not for us, or where its vendor computes something
// else than ONNX says (core/onnx/known_errors.h). What is left over is tried: the whole first; if no device takes it,
// each kind of node alone, and the parts without those that failed. Parts with few nodes are not worth the way there
// and back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/onnx/known_errors.h"
#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

struct Capability {
  std::vector<std::vector<std::size_t>> parts;  // of each the places of its nodes in the graph, ascending
  std::vector<std::string> left;                // one line for each node that is left to the host: which and why
};

// Tries to load a part: "" when a device takes it, else why not.
using Trial = std::function<std::string(const std::vector<std::size_t>& nodes)>;

// `trial` may be empty: for compiling, where the compiler says later what it does not take.
[[nodiscard]] Capability capability_of(const GraphView& graph, const onnx::KnownErrors& errors, const Trial& trial);

// True for a compiled model of ours.
[[nodiscard]] bool is_our_context(const Host& host, const NodeView& node);

}  // namespace latebind::provider
