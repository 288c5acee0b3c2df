#include "backends/onnxruntime/assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/onnx_integer_nodes.h"
#include "core/text/quote.h"

namespace latebind::onnxruntime {
namespace {

using core::HostNodes;
using core::Result;
using core::Status;
using core::StatusCode;

// The number of nodes that an error names.
constexpr std::size_t kNamedMax = 8;
constexpr std::size_t kAssignedTextMax = 256;

std::string bounded(const char* text) {
  return text == nullptr ? std::string() : std::string(text).substr(0, kAssignedTextMax);
}

// Adds the nodes of one part to `nodes`, and returns their number.
Result<std::size_t> read_nodes(const Library& library, const abi::EpAssignedSubgraph* part,
                               std::vector<core::LeftNode>* nodes) {
  const abi::PluginApi& api = library.plugin;
  const abi::EpAssignedNode* const* list = nullptr;
  std::size_t count = 0;
  constexpr const char* kUnreadable = "ONNX Runtime does not list the nodes of a provider";
  LB_ORT_RETURN_IF_ERROR(library, api.EpAssignedSubgraph_GetNodes(part, &list, &count), kUnreadable);
  for (std::size_t i = 0; nodes != nullptr && i < count; ++i) {
    const char* type = nullptr;
    const char* name = nullptr;
    LB_ORT_RETURN_IF_ERROR(library, api.EpAssignedNode_GetOperatorType(list[i], &type), kUnreadable);
    LB_ORT_RETURN_IF_ERROR(library, api.EpAssignedNode_GetName(list[i], &name), kUnreadable);
    nodes->push_back({bounded(type), bounded(name), {}});
  }
  return count;
}

}  // namespace

std::string named_nodes(const core::LeftNodes& nodes) {
  std::string text;
  for (const core::LeftNode& node : std::span(nodes.first).first(std::min(nodes.first.size(), kNamedMax))) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", node.op,
                        node.name.empty() ? "no name" : core::printable(node.name, kAssignedTextMax));
  }
  return nodes.count > kNamedMax ? text + ", …" : text;
}

Result<Assignment> read_assignment(const Library& library, const abi::Session* session, const PluginUse& plugin,
                                   HostNodes host_nodes, std::span<const std::byte> model, std::string_view name) {
  Assignment assignment;
  // Without assignments, the vendor itself has refused nodes that must not be left to the CPU.
  if (!library.plugin.has_assignment()) return assignment;
  const abi::PluginApi& api = library.plugin;
  constexpr const char* kUnreadable = "ONNX Runtime does not report the nodes of a provider";
  const abi::EpAssignedSubgraph* const* parts = nullptr;
  std::size_t count = 0;
  LB_ORT_RETURN_IF_ERROR(library, api.Session_GetEpGraphAssignmentInfo(session, &parts, &count), kUnreadable);
  const std::string provider = bounded(api.EpDevice_EpName(plugin.device));
  std::vector<core::LeftNode> left;
  for (std::size_t i = 0; i < count; ++i) {
    const char* taken_by = nullptr;
    LB_ORT_RETURN_IF_ERROR(library, api.EpAssignedSubgraph_GetEpName(parts[i], &taken_by), kUnreadable);
    const bool is_left = bounded(taken_by) != provider;
    LB_ASSIGN_OR_RETURN(const std::size_t nodes, read_nodes(library, parts[i], is_left ? &left : nullptr));
    assignment.nodes += nodes;
  }
  assignment.host_nodes = left.size();
  if (left.empty() || host_nodes == HostNodes::kAny) return assignment;
  if (host_nodes == HostNodes::kIntegers) {
    LB_ASSIGN_OR_RETURN(const auto integers, graph::read_integer_nodes(model, name));
    std::erase_if(left, [&](const core::LeftNode& node) { return integers.contains(node.name); });
    if (left.empty()) return assignment;
  }
  const core::LeftNodes refused{left.size(), std::move(left)};
  return Status(
      StatusCode::kUnsupported,
      fmt::format("{} leaves {} of the {} nodes of {} to the CPU{}: {}", plugin.id, refused.count, assignment.nodes,
                  name, host_nodes == HostNodes::kIntegers ? ", not only shapes, masks and indices" : "",
                  named_nodes(refused)));
}

}  // namespace latebind::onnxruntime
