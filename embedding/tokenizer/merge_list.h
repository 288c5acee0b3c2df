// MergeList: the pairs of tokens that byte-pair encoding merges, in the order of their rank, as the file has them.
//
// Filled once by add(), read by the model, which turns the texts into ids. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

  // Room for what a JSON text of this many bytes usually holds.
  void reserve(std::size_t json_bytes);
  // Rejects what exceeds the limits, here and of a token.
  [[nodiscard]] core::Status add(std::string_view left, std::string_view right);
  // The form "left right"; a line that begins with #version is none, and left out.
  [[nodiscard]] core::Status add_line(std::string_view line);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // A view into the list.
  [[nodiscard]] MergePair operator[](std::size_t rank) const {
    const Entry& entry = entries_[rank];
    const std::string_view both = std::string_view(bytes_).substr(entry.offset);
    return {both.substr(0, entry.left_size), both.substr(entry.left_size, entry.right_size)};
  }

 private:
  struct Entry {
    std::uint32_t offset;
    std::uint16_t left_size;
    std::uint16_t right_size;
  };

  std::string bytes_;
  std::vector<Entry> entries_;
};

}  // namespace latebind::embedding
