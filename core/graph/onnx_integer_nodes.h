// Finds the nodes of an ONNX file that compute only with whole numbers and truth values: shapes, masks and indices.
// These nodes may be left to a host's CPU when a device takes the rest of a model.
//
// Source: onnx.proto and the ONNX operators' definitions. Every length is checked. Pure function, for any thread.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::graph {

// Returns the names of nodes of the main graph whose inputs are all integers or truth values, whatever type they
// produce (a mask becomes numbers), and that are not matrix products. Nodes without a name, nodes with a subgraph, and
// nodes whose types are unknown are not included. kInvalidModel when the bytes are not an ONNX model. `name` is the
// file's name for messages.
[[nodiscard]] core::Result<std::set<std::string, std::less<>>> read_integer_nodes(std::span<const std::byte> bytes,
                                                                                  std::string_view name);

}  // namespace latebind::graph
