#include "hosts/onnxruntime/capability.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>

#include "hosts/onnxruntime/onnx_network.h"

namespace latebind::provider {
namespace {

// A part with fewer nodes is left to the host, unless it is the whole graph, since each part adds a transition to the
// device and back.
constexpr std::size_t kPartNodesMin = 3;
// The limit for kinds of nodes that are tried alone. A model has a few dozen.
constexpr std::size_t kTrialsMax = 200;

constexpr std::array<std::string_view, 5> kRandom{"RandomNormal", "RandomNormalLike", "RandomUniform",
                                                  "RandomUniformLike", "Multinomial"};

// Why a node is left to the host; "" if it may be taken.
std::string refusal(const GraphView& graph, const NodeView& node) {
  if (node.subgraphs > 0) return "is control flow, which is left to the host";
  if (!node.domain.empty()) return "is of the domain " + node.domain;
  if (std::ranges::find(kRandom, node.op) != kRandom.end() || node.op == "Bernoulli") {
    return "is random, so implementations do not agree";
  }
  for (const auto* values : {&node.inputs, &node.outputs}) {
    for (const ValueView& value : *values) {
      if (value.raw == nullptr) continue;
      const TypeView type = graph.type_of(value);
      if (!type.is_tensor) return "has '" + value.name + "', which is not a tensor";
      if (type.onnx_type == abi::kString) return "has strings in '" + value.name + "'";
      if (type.type == 0) return "has a type in '" + value.name + "' that Latebind does not support";
      if (type.type == LB_F64) return "computes in double precision, which no device here supports";
      if (type.shape.size() > LB_RANK_MAX) return "has more than 8 dimensions in '" + value.name + "'";
      if (values == &node.inputs && !type.has_shape) return "has '" + value.name + "', whose rank is unknown";
    }
  }
  return {};
}

// A key of the properties that decide whether a device takes a node, as far as a trial can tell.
std::string kind_of(const GraphView& graph, const NodeView& node) {
  std::string kind = node.op + "/" + std::to_string(node.since);
  for (const ValueView& input : node.inputs) {
    if (input.raw == nullptr) {
      kind += ",-";
      continue;
    }
    const TypeView type = graph.type_of(input);
    kind += "," + std::to_string(type.type) + ":" + std::to_string(type.shape.size());
    if (graph.is_constant(input)) kind += 'c';
  }
  return kind;
}

// Divides the taken nodes into parts, each in topological order, so that no cycle connects two parts: the level of a
// node is the largest number of times that a path to it enters the taken nodes from refused ones, and each level is a
// part.
std::vector<std::vector<std::size_t>> levels(const GraphView& graph, const std::vector<std::string>& refused) {
  std::map<std::string, std::size_t> maker;
  std::vector<std::size_t> level(graph.nodes().size(), 0);
  std::map<std::size_t, std::vector<std::size_t>> parts;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    for (const ValueView& input : graph.nodes()[i].inputs) {
      const auto made = maker.find(input.name);
      if (input.raw == nullptr || made == maker.end()) continue;
      const bool comes_back = refused[i].empty() && !refused[made->second].empty();
      level[i] = std::max(level[i], level[made->second] + (comes_back ? 1 : 0));
    }
    for (const ValueView& output : graph.nodes()[i].outputs)
      if (output.raw != nullptr) maker[output.name] = i;
    if (refused[i].empty()) parts[level[i]].push_back(i);
  }
  std::vector<std::vector<std::size_t>> result;
  for (auto& [number, nodes] : parts)
    result.push_back(std::move(nodes));
  return result;
}

}  // namespace

bool is_our_context(const Host& host, const NodeView& node) {
  return node.op == "EPContext" && text_attribute(host, node.raw, "source") == "Latebind";
}

Capability capability_of(const GraphView& graph, const onnx::KnownErrors& errors, const Trial& trial) {
  const std::size_t count = graph.nodes().size();
  std::vector<std::string> refused(count, "is inside control flow");
  if (!graph.is_within_a_node()) {
    std::set<std::size_t> left;
    for (std::size_t i = 0; i < count; ++i) {
      refused[i] = refusal(graph, graph.nodes()[i]);
      if (!refused[i].empty()) left.insert(i);
    }
    for (auto& [i, why] : onnx::find_known_errors(onnx_network_of(graph), errors, left).nodes)
      refused[i] = std::move(why);
  }
  std::vector<std::vector<std::size_t>> parts = levels(graph, refused);
  const auto is_too_small = [&](const std::vector<std::size_t>& part) {
    return part.size() < kPartNodesMin && part.size() < count;
  };
  const auto drop = [&](const std::vector<std::size_t>& part, const std::string& why) {
    for (const std::size_t i : part)
      refused[i] = why;
  };
  // Whether something failed; what failed is refused from now on.
  const auto some_failed = [&] {
    bool failed = false;
    std::map<std::string, std::string> kinds;
    for (const auto& part : parts) {
      if (is_too_small(part)) continue;
      const std::string why = trial(part);
      if (why.empty()) continue;
      failed = true;
      bool found = false;
      for (const std::size_t i : part) {
        const std::string kind = kind_of(graph, graph.nodes()[i]);
        if (!kinds.contains(kind)) {
          if (kinds.size() >= kTrialsMax) break;
          kinds[kind] = trial({i});
        }
        if (kinds[kind].empty()) continue;
        refused[i] = kinds[kind];
        found = true;
      }
      if (!found) drop(part, why);
    }
    return failed;
  };
  if (trial && some_failed()) {
    parts = levels(graph, refused);
    for (const auto& part : parts) {
      if (is_too_small(part)) continue;
      if (const std::string why = trial(part); !why.empty()) drop(part, why);
    }
    // Only whole parts were dropped, so the others are unchanged.
  }
  Capability capability;
  for (auto& part : parts) {
    if (!refused[part.front()].empty()) continue;  // dropped whole
    if (is_too_small(part)) {
      drop(part, "would be alone with " + std::to_string(part.size() - 1) + " others, which are too few for a part");
      continue;
    }
    capability.parts.push_back(std::move(part));
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!refused[i].empty()) capability.left.push_back(graph.nodes()[i].text() + " " + refused[i]);
  return capability;
}

}  // namespace latebind::provider
