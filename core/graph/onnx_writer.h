// Writes a Graph as ONNX: ModelProto in protobuf's wire format, written by hand
// (docs/decisions/0010-onnx-without-libprotobuf.md).
//
// Source: onnx.proto of ONNX 1.16 (IR version 9, opset 20). Pure functions, for any thread.
#pragma once

#include <span>
#include <string>

#include "core/graph/graph.h"
#include "core/platform/files/output_file.h"
#include "core/result.h"

namespace latebind::graph {

// Returns the model without its weights, which stay in place as external data. `locations` has the name of each of
// Graph::weights().
[[nodiscard]] std::string write_onnx(const Graph& graph, std::span<const std::string> locations);

// Streams the model with its weights to `file`. kUnsupported beyond 2 GiB, the most that protobuf's readers take.
[[nodiscard]] core::Status write_onnx(const Graph& graph, platform::OutputFile& file);

}  // namespace latebind::graph
