#include "core/graph/token_packing.h"

#include <algorithm>
#include <variant>

namespace latebind::graph {

std::optional<std::string> can_pack(const Graph& graph) {
  const core::Shape any_texts{core::kDynamic, core::kDynamic};
  std::optional<Value> mask;
  bool has_attention = false;
  bool can = true;
  const auto see = [&](Value one) {
    can = can && (!mask || mask->node == one.node) && std::holds_alternative<Input>(graph.node(one).op);
    mask = one;
  };
  for (const Node& node : graph.nodes()) {
    if (const auto* attention = std::get_if<Attention>(&node.op)) {
      has_attention = true;
      see(attention->mask);
    } else if (const auto* pool = std::get_if<Pool>(&node.op)) {
      see(pool->mask);
    } else if (const auto* convolution = std::get_if<Convolution>(&node.op)) {
      see(convolution->mask);
    } else if (const auto* brief = std::get_if<ShortConvolution>(&node.op)) {
      see(brief->mask);
    } else if (const auto* input = std::get_if<Input>(&node.op)) {
      can = can && input->type == core::ElementType::kI64 && input->shape == any_texts;
    }
  }
  if (!can || !has_attention) return std::nullopt;
  return std::get<Input>(graph.node(*mask).op).name;
}

std::size_t count_tokens(std::span<const std::int64_t> mask) {
  return mask.size() - static_cast<std::size_t>(std::ranges::count(mask, 0));
}

void pack_tokens(std::span<const std::int64_t> mask, std::span<std::int64_t> places, std::span<std::int64_t> slots) {
  std::size_t token = 0;
  for (std::size_t place = 0; place < mask.size(); ++place) {
    const bool is_token = mask[place] != 0;
    slots[place] = static_cast<std::int64_t>(is_token ? token : 0);
    if (is_token) places[token++] = static_cast<std::int64_t>(place);
  }
  std::ranges::fill(places.subspan(token), 0);
}

}  // namespace latebind::graph
