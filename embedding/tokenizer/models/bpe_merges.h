// Reads the merges of a BPE model: from texts to ids, and into a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/result.h"
#include "embedding/tokenizer/merge_list.h"
#include "embedding/tokenizer/models/merge_table.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

// A merge with the ids of its tokens.
struct MergeIds {
  std::int32_t left;
  std::int32_t right;
  std::int32_t made;
};

// Reads all merges; the second half of a long list on another thread. A second token begins with a prefix of
// `prefix_size` bytes, which the merged one does not have. kInvalidModel names the merge.
[[nodiscard]] core::Status read_merges(const MergeList& list, const Vocabulary& vocabulary, std::size_t prefix_size,
                                       std::span<MergeIds> ids);
// The rank of a merge is its place in the list.
[[nodiscard]] core::Result<MergeTable> make_table(std::span<const MergeIds> merges);

}  // namespace latebind::embedding
