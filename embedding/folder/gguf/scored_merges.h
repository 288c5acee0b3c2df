// Derives the merges of a BPE vocabulary with scores, such as SentencePiece's: each way to split a piece into two other
// pieces is a merge, and pieces with higher scores are merged first.
//
// Source: the conversion of such models in transformers. A pure function; any thread may call it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::embedding {

// Returns pairs of views of `pieces`, by falling priority. `scores` has one number for each piece. Pieces that are
// longer than those of any published model get no merges.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> scored_merges(
    std::span<const std::string_view> pieces, std::span<const float> scores);

}  // namespace latebind::embedding
