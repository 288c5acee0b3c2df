// MergeList: the pairs of tokens that byte-pair encoding merges, in the order of their rank, as texts of the file.
//
// add() fills it, and the model turns its texts into ids. It has views into the file's text, which must outlive it. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/platform/huge_pages.h"
#include "core/result.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

struct MergePair {
  std::string_view left;
  std::string_view right;
};

class MergeList {
 public:
  static constexpr std::size_t kMergesMax = Vocabulary::kTokensMax;
  // A merged token is longer than each of its halves.
  static constexpr std::size_t kHalfBytesMax = Vocabulary::kTokenBytesMax - 1;

  // Reserves memory for the merges that a JSON text of this size usually has.
  void reserve(std::size_t json_bytes);
  // Adds a pair; `right` follows `left` in the same text. Rejects merges beyond the limits of a list or a token.
  [[nodiscard]] core::Status add(std::string_view left, std::string_view right);
  // Adds a pair of the form "left right". Ignores lines that begin with #version.
  [[nodiscard]] core::Status add_line(std::string_view line);

  // Keeps a copy of both texts, one after the other, as long as the list lives: for texts that the file does not
  // contain in this form.
  [[nodiscard]] std::string_view keep(std::string_view left, std::string_view right = {});

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] MergePair operator[](std::size_t rank) const {
    const Entry& entry = entries_[rank];
    return {{entry.left, entry.left_size}, {entry.left + entry.right_place, entry.right_size}};
  }

 private:
  struct Entry {
    const char* left;
    std::uint32_t right_place;  // offset from the beginning of `left`
    std::uint16_t left_size;
    std::uint16_t right_size;
  };

  std::deque<std::string> kept_;  // elements of a deque do not move
  platform::LargeVector<Entry> entries_;
};

}  // namespace latebind::embedding
