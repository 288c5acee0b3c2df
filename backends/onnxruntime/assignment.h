// The assignment of a model's nodes: which of them a provider took, and which it left to the host's CPU.
//
// A provider that takes single nodes instead of a whole model leaves those for which it has no kernel. Nodes that
// compute shapes, masks and indices cost almost nothing on the CPU; a matrix product there would mean that the device
// does not do the work. Pure functions of a session; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/session_options.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct Assignment {
  std::size_t nodes = 0;       // after the vendor's basic optimisations; 0: not reported (before ONNX Runtime 1.24)
  std::size_t host_nodes = 0;  // the nodes among them on the host's CPU
};

// The first few nodes, for messages: "NonZero (node_3), …".
[[nodiscard]] std::string named_nodes(const core::LeftNodes& nodes);

// Reads the assignment of a session that use_plugin() has prepared. Returns kUnsupported, naming nodes, if nodes are on
// the CPU that `host_nodes` does not allow. `model` is the ONNX file, and `name` its name for messages.
[[nodiscard]] core::Result<Assignment> read_assignment(const Library& library, const abi::Session* session,
                                                       const PluginUse& plugin, core::HostNodes host_nodes,
                                                       std::span<const std::byte> model, std::string_view name);

}  // namespace latebind::onnxruntime
