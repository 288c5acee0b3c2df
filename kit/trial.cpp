#include "kit/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/graph/operator_members.h"
#include "kit/compare.h"
#include "kit/networks/graph_model.h"
#include "kit/run_graph.h"

namespace latebind::kit {
namespace {

constexpr std::size_t kRefusalsShown = 3;

// The names of an operator's members, also of those in its parts.
template <class Op>
void add_members(const Op& op, std::set<std::string, std::less<>>& names) {
  graph::each_member(op, [&](std::string_view name, const auto& member) {
    names.emplace(name);
    if constexpr (requires { member->name; }) {
      if (member) names.insert(member->name);
    } else if constexpr (requires { member.name; }) {
      names.insert(member.name);
    } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, std::string>) {
      names.insert(member);
    }
  });
}

std::set<std::string, std::less<>> names_in(const graph::Graph& graph) {
  std::set<std::string, std::less<>> names;
  for (const graph::Node& node : graph.nodes()) {
    std::visit(
        [&](const auto& op) {
          names.emplace(graph::kOperatorName<std::remove_cvref_t<decltype(op)>>);
          add_members(op, names);
        },
        node.op);
  }
  names.emplace("output");
  // A letter is in every text.
  std::erase_if(names, [](const std::string& name) { return name.size() < 2; });
  return names;
}

}  // namespace

core::Result<std::vector<Array>> run_arrays(core::Executable& executable, const Inputs& inputs,
                                            const core::RunOptions& options) {
  std::vector<Array> arrays;
  for (const Outcome& outcome : run_all(executable, inputs, options)) {
    LB_RETURN_IF_ERROR(outcome.status);
    const auto dims = outcome.shape.dims();
    arrays.push_back({{dims.begin(), dims.end()}, {outcome.values.begin(), outcome.values.end()}});
  }
  return arrays;
}

bool is_proper_refusal(const core::Status& status, const graph::Graph& graph, const core::Device& device) {
  if (status.code() != core::StatusCode::kUnsupported || status.message().empty()) return false;
  if (!device.traits.graphs_only) return true;
  const std::string text = status.to_string();
  return std::ranges::any_of(names_in(graph),
                             [&](const std::string& name) { return text.find(name) != std::string::npos; });
}

core::Status Tally::try_graph(const core::Device& device, GraphCase one, core::Precision precision) {
  const auto in_case = [&](const core::Status& status) {
    return core::Status(core::StatusCode::kInternal,
                        fmt::format("{} [{}; seed {}]", status.to_string(), one.text, context_.options().seed));
  };
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context_.backend());
  context_.step(fmt::format("load() of {}", one.text));
  const core::Model model = model_of(one.graph, "a graph of the kit");
  core::CompileOptions options;
  options.precision = precision;
  const auto loaded = backend->load(model, device.name, options);
  if (!loaded.ok()) {
    if (!is_proper_refusal(loaded.status(), one.graph, device)) return in_case(loaded.status());
    ++refused_;
    const std::string reason(loaded.status().message());
    if (refusals_.size() < kRefusalsShown && std::ranges::find(refusals_, reason) == refusals_.end())
      refusals_.push_back(reason);
    return {};
  }
  context_.step(fmt::format("execute() of {}", one.text));
  const auto found = run_arrays(**loaded, one.inputs);
  if (!found.ok()) return in_case(found.status());
  context_.step(fmt::format("comparing {}", one.text));
  if (const core::Status status = compare(one.graph, one.inputs, *found, precision); !status.ok())
    return in_case(status);
  context_.step(fmt::format("destroying {}", one.text));
  ++computed_;
  return {};
}

Finding Tally::finding() const {
  const std::string reasons = fmt::format("{}", fmt::join(refusals_, "; "));
  if (computed_ == 0) return refused(reasons);
  if (refused_ == 0) return passed(fmt::format("{} graphs", computed_));
  return passed(fmt::format("{} graphs; {} refused: {}", computed_, refused_, reasons));
}

core::Precision default_precision(const core::Device& device) {
  if (device.traits.precisions.empty() || device.traits.computes_in(core::Precision::kF32))
    return core::Precision::kF32;
  return device.traits.precisions.front();
}

bool needs_static_shapes(const core::Device& device) {
  return device.traits.static_shapes || device.kind == core::DeviceKind::kNpu;
}

}  // namespace latebind::kit
