// Token packing: puts a graph's tokens one after the other, without the padding between texts.
//
// Layers that treat all tokens alike compute on packed tokens; attention, convolution and pooling use padded ones. A
// network that was lowered this way (FormatTraits::packs_tokens) has two inputs besides the graph's, both i64:
//
//   token_places.MASK [N]    the place of each token among the B · T places of the graph's inputs: row · T + column.
//                            First the places where the mask is not 0, in their order; then any others, if N is larger
//   token_slots.MASK [B,T]   for each place, the position of its token among those; any value where the mask is 0
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

// Returns the name of the mask if tokens can be packed and that saves work: the graph has attention, all its inputs are
// i64 [B,T] for any B and T, and one of them is the mask for everything. Otherwise std::nullopt.
[[nodiscard]] std::optional<std::string> can_pack(const Graph& graph);

[[nodiscard]] std::size_t count_tokens(std::span<const std::int64_t> mask);

// Fills `places` and `slots`. `places` must have room for all tokens; `slots` has one element for each element of the
// mask.
void pack_tokens(std::span<const std::int64_t> mask, std::span<std::int64_t> places, std::span<std::int64_t> slots);

}  // namespace latebind::graph
