// The merges of a vocabulary with scores, as of SentencePiece's BPE models: a piece may be merged of any two others
// that it consists of, and pieces with high scores come first.
//
// Source: the conversion of such models in transformers. Pure function; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::embedding {

// Each merge is a pair of views of the pieces, the first one with the highest priority. `scores` has one for each
// piece. Pieces longer than any of a published model are not merged of others.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> scored_merges(
    std::span<const std::string_view> pieces, std::span<const float> scores);

}  // namespace latebind::embedding
