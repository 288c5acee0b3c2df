#include "core/onnx/lookups.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/graph/onnx_types.h"
#include "core/onnx/value_range.h"

namespace latebind::onnx {
namespace {

using Makers = std::map<std::string_view, const Node*>;

// Returns the tensor that becomes this one only by moves and casts.
std::string_view moved_from(std::string_view name, const Makers& makers) {
  for (unsigned steps = 0; steps < 64; ++steps) {
    const auto maker = makers.find(name);
    if (maker == makers.end()) break;
    const Node& before = *maker->second;
    const bool moves = only_moves(before.op) || before.op == "Cast" || before.op == "Expand";
    if (!moves || before.inputs.empty()) break;
    name = before.inputs[0];
  }
  return name;
}

// Whether the second input has indices into the first one.
bool looks_up(std::string_view op) {
  return op == "Gather" || op == "GatherElements" || op == "GatherND" || op == "Scatter" || op == "ScatterElements";
}

}  // namespace

std::map<std::string, std::int64_t> indices_looked_up(const Network& network) {
  Makers makers;
  const std::set<std::string_view> inputs(network.inputs.begin(), network.inputs.end());
  std::map<std::string, std::int64_t> found;
  for (const Node& node : network.nodes) {
    for (const std::string& output : node.outputs)
      makers[output] = &node;
    if (!looks_up(node.op) || !node.domain.empty() || node.inputs.size() < 2) continue;
    std::vector<std::int64_t> shape;
    std::string_view data = node.inputs[0];
    for (auto maker = makers.find(data); maker != makers.end(); maker = makers.find(data)) {
      if (maker->second->op != "Cast" || maker->second->inputs.empty()) break;
      data = maker->second->inputs[0];
    }
    if (const auto table = network.constants.find(data); table != network.constants.end()) {
      shape = table->second.shape;
    } else if (const auto declared = network.declared.find(data); declared != network.declared.end()) {
      shape = declared->second.shape;
    }
    if (node.op == "GatherND" && !shape.empty()) {
      // Which dimension an index refers to depends on its place: the smallest one limits all.
      shape = {std::ranges::min(shape)};
    }
    const Attribute* axis = node.find("axis");
    std::int64_t place = axis != nullptr && axis->integer ? *axis->integer : 0;
    if (place < 0) place += static_cast<std::int64_t>(shape.size());
    if (place < 0 || place >= static_cast<std::int64_t>(shape.size())) continue;
    const std::int64_t size = shape[static_cast<std::size_t>(place)];
    if (size <= 0) continue;
    const std::string_view name = moved_from(node.inputs[1], makers);
    if (!inputs.contains(name)) continue;
    const auto [entry, is_new] = found.try_emplace(std::string(name), size);
    entry->second = std::min(entry->second, size);
  }
  return found;
}

std::set<std::string> masks_of(const Network& network) {
  Makers makers;
  const std::set<std::string_view> inputs(network.inputs.begin(), network.inputs.end());
  std::set<std::string> found;
  for (const Node& node : network.nodes) {
    for (const std::string& output : node.outputs)
      makers[output] = &node;
    if (!node.domain.empty() || node.inputs.empty()) continue;
    const Attribute* to = node.op == "Cast" ? node.find("to") : nullptr;
    const auto type = to != nullptr && to->integer ? graph::element_type_of_onnx(*to->integer) : std::nullopt;
    if (node.op != "CumSum" && !(type && is_float(*type))) continue;
    const std::string_view name = moved_from(node.inputs[0], makers);
    if (inputs.contains(name)) found.emplace(name);
  }
  return found;
}

}  // namespace latebind::onnx
