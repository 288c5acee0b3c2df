// MergeList: the pairs of tokens that byte-pair encoding merges, in the order of their rank, as the file has them.
//
// Filled once by add(), read by the model, which turns the texts into ids. Views into the file's text, which must
// outlive it. One thread.
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
  // What two tokens make is longer than each of them.
  static constexpr std::size_t kHalfBytesMax = Vocabulary::kTokenBytesMax - 1;

  // Room for what a JSON text of this many bytes usually holds.
  void reserve(std::size_t json_bytes);
  // Rejects what exceeds the limits, here and of a token. `right` stands behind `left` in the same text.
  [[nodiscard]] core::Status add(std::string_view left, std::string_view right);
  // The form "left right"; a line that begins with #version is none, and left out.
  [[nodiscard]] core::Status add_line(std::string_view line);

  // Both one behind the other, as long as the list is there: for what is not in the file as it is.
  [[nodiscard]] std::string_view keep(std::string_view left, std::string_view right = {});

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] MergePair operator[](std::size_t rank) const {
    const Entry& entry = entries_[rank];
    return {{entry.left, entry.left_size}, {entry.left + entry.right_place, entry.right_size}};
  }

 private:
  struct Entry {
    const char* left;
    std::uint32_t right_place;  // behind the beginning of the left one
    std::uint16_t left_size;
    std::uint16_t right_size;
  };

  std::deque<std::string> kept_;  // none of which moves
  platform::LargeVector<Entry> entries_;
};

}  // namespace latebind::embedding
