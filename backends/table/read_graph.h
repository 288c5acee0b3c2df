// Makes a graph of what a host gives a plug-in (lbb_graph). docs/plugin-contract.md has the operators. Pure function,
// for any thread.
#pragma once

#include <memory>

#include "backends/plugin/contract.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::table {

// Returns the graph with its weights where they are; `owner` stands for the ownership of their memory. kUnsupported
// names an operator or an argument that is not known here, kInvalidModel what does not fit together.
[[nodiscard]] core::Result<core::ModelGraph> read_graph(const lbb_host& host, const lbb_graph* graph,
                                                        const std::shared_ptr<const void>& owner);

}  // namespace latebind::table
