// Which nodes of a model a provider took, and which it left to the host's CPU.
//
// A provider that takes single nodes, and not a model as a whole, leaves what it has no kernel for. Nodes that compute
// shapes, masks and indices cost nothing there; a product of matrices would make the device a pretence. Pure functions
// of a session; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/session_options.h"
#include "core/executable.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct Assignment {
  std::size_t nodes = 0;       // after the vendor's basic optimisations; 0: it does not say (before ONNX Runtime 1.24)
  std::size_t host_nodes = 0;  // of these, on the host's CPU
};

// "NonZero (node_3), …": the first few.
[[nodiscard]] std::string named_nodes(const core::LeftNodes& nodes);

// Of a session that use_plugin() was told about. kUnsupported, naming nodes, when others were left than `host_nodes`
// allows. `model`: the ONNX file, `name` stands for it.
[[nodiscard]] core::Result<Assignment> read_assignment(const Library& library, const abi::Session* session,
                                                       const PluginUse& plugin, core::HostNodes host_nodes,
                                                       std::span<const std::byte> model, std::string_view name);

}  // namespace latebind::onnxruntime
