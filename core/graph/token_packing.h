// Token packing: a graph's tokens one after the other, without the padding between texts.
//
// Layers that treat all tokens alike are computed of packed tokens; attention and pooling have them padded. A network
// that was lowered so (FormatTraits::packs_tokens) has two inputs besides the graph's, both i64:
//
//   token_places.MASK [N]    where each token is among the B · T places of the graph's inputs: row · T + column. Those
//                            where the mask is not 0, in their order; then any others, for an N that is larger
//   token_slots.MASK [B,T]   for each place, the position of its token among those; any where the mask is 0
//
// MASK is the name of the mask's input. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace latebind::graph {

inline constexpr std::string_view kTokenPlaces = "token_places.";
inline constexpr std::string_view kTokenSlots = "token_slots.";

// The name of the mask, where tokens can be packed and that saves anything: there is attention, all inputs are i64
// [B,T] for any B and T, and one of them is the mask of everything.
[[nodiscard]] std::optional<std::string> can_pack(const Graph& graph);

[[nodiscard]] std::size_t count_tokens(std::span<const std::int64_t> mask);

// `places`: at least as many as there are tokens. `slots`: as many as the mask has numbers.
void pack_tokens(std::span<const std::int64_t> mask, std::span<std::int64_t> places, std::span<std::int64_t> slots);

}  // namespace latebind::graph
