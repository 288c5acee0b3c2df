#include <iterator>
#include <string_view>

#include "core/graph/graph.h"
#include "core/graph/operator_members.h"
#include "core/text/format_to.h"

namespace latebind::graph {
namespace {

// A name is preceded by its length, so that different graphs give different texts.
std::string name(std::string_view text) {
  return fmt::format("{}:{}", text.size(), text);
}

std::string weight(const Weight& weight) {
  const std::string file = weight.file == 0 ? "" : fmt::format(" of file {}", weight.file);
  return fmt::format("{} {}{} at {}{}", name(weight.name), core::name_of(weight.type), weight.shape.to_string(),
                     weight.offset, file);
}

// For a bias that may be absent.
std::string bias_of(const std::optional<Weight>& bias) {
  return bias ? fmt::format(", bias {}", weight(*bias)) : std::string();
}

std::string position_terms_of(const Attention& op) {
  std::string text;
  if (const auto& bias = op.distance_bias)
    text += fmt::format(", distances up to {} in {}", bias->farthest, weight(bias->table));
  if (const auto& bias = op.linear_bias)
    text += fmt::format(", slopes {:a} at {}", fmt::join(bias->slopes, " "), bias->positions);
  if (const auto& terms = op.disentangled) {
    text += fmt::format(", disentangled over {}", terms->span);
    if (terms->farthest) text += fmt::format(" up to {}", *terms->farthest);
    if (terms->keys) text += fmt::format(", keys %{}", terms->keys->node);
    if (terms->queries) text += fmt::format(", queries %{}", terms->queries->node);
  }
  if (const auto& rotary = op.rotary) {
    text += fmt::format(", rotary {:a} at {}", fmt::join(rotary->frequencies, " "), rotary->positions);
    if (rotary->factor != 1) text += fmt::format(" times {:a}", rotary->factor);
  }
  if (op.soft_cap) text += fmt::format(", soft cap {:a}", *op.soft_cap);
  if (op.window) text += fmt::format(", window {}", *op.window);
  if (op.causal) text += ", causal";
  if (op.may_be_unattended) text += ", may be unattended";
  return text;
}

const Cases kDescribe{
    [](const Input& op) { return fmt::format("input {}", name(op.name)); },
    [](const Lookup& op) { return fmt::format("lookup %{} in {}", op.ids.node, weight(op.table)); },
    [](const PositionLookup& op) {
      const std::string padding = op.padding ? fmt::format(", padding {}", *op.padding) : "";
      return fmt::format("positions of %{} in {}{}", op.ids.node, weight(op.table), padding);
    },
    [](const RowLookup& op) { return fmt::format("row {} of {}", op.row, weight(op.table)); },
    [](const WholeTable& op) { return fmt::format("table {}", weight(op.table)); },
    [](const Add& op) { return fmt::format("add %{} %{}", op.a.node, op.b.node); },
    [](const Multiply& op) { return fmt::format("multiply %{} %{}", op.a.node, op.b.node); },
    [](const Scale& op) { return fmt::format("scale %{} by {:a}", op.x.node, op.factor); },
    [](const Columns& op) {
      return fmt::format("columns %{}, {} from {} of {}", op.x.node, op.count, op.first, op.width);
    },
    [](const Convolution& op) {
      return fmt::format("convolution %{}, mask %{}, weight {}{}", op.x.node, op.mask.node, weight(op.weight),
                         bias_of(op.bias));
    },
    [](const Linear& op) {
      return fmt::format("linear %{}, weight {}{}", op.x.node, weight(op.weight), bias_of(op.bias));
    },
    [](const Attention& op) {
      const std::string shared = op.key_heads == op.heads ? "" : fmt::format(" to {}", op.key_heads);
      return fmt::format("attention %{} %{} %{}, mask %{}, heads {}{}, scale {:a}{}", op.query.node, op.key.node,
                         op.value.node, op.mask.node, op.heads, shared, op.scale, position_terms_of(op));
    },
    [](const ShortConvolution& op) {
      return fmt::format("short convolution %{}, mask %{}, weight {}{}", op.x.node, op.mask.node, weight(op.weight),
                         bias_of(op.bias));
    },
    [](const Experts& op) {
      return fmt::format("experts %{} by %{}, {} chosen, wide {}, {}, narrow {}{}", op.x.node, op.router.node,
                         op.chosen, weight(op.wide), core::word_of(op.function), weight(op.narrow), bias_of(op.bias));
    },
    [](const LayerNorm& op) {
      return fmt::format("layer_norm %{}, weight {}{}, epsilon {:a}", op.x.node, weight(op.weight), bias_of(op.bias),
                         op.epsilon);
    },
    [](const RmsNorm& op) {
      return fmt::format("rms_norm %{}, weight {}, offset {:a}, epsilon {:a}", op.x.node, weight(op.weight), op.offset,
                         op.epsilon);
    },
    [](const Activation& op) { return fmt::format("{} %{}", core::word_of(op.function), op.x.node); },
    [](const Pool& op) {
      return fmt::format("pool {} %{}, mask %{}", core::word_of(op.mode), op.x.node, op.mask.node);
    },
    [](const Normalize& op) { return fmt::format("normalize %{}", op.x.node); },
};

}  // namespace

std::string describe(const Graph& graph) {
  std::string text;
  const auto out = std::back_inserter(text);
  std::size_t number = 0;
  for (const Node& node : graph.nodes()) {
    fmt::format_to(out, "%{} {}{} = {}\n", number++, core::name_of(node.type), node.shape.to_string(),
                   std::visit(kDescribe, node.op));
  }
  for (const GraphOutput& output : graph.outputs())
    fmt::format_to(out, "output {} = %{}\n", name(output.name), output.value.node);
  return text;
}

}  // namespace latebind::graph
