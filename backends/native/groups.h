// Groups: how the texts of a batch are divided among threads. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/native/batch.h"

namespace latebind::native {

struct Range {
  std::size_t first = 0;
  std::size_t count = 0;
};

// The member's part of `count` items.
inline Range part_of(std::size_t count, std::size_t member, std::size_t members) {
  const std::size_t first = count * member / members;
  return {first, count * (member + 1) / members - first};
}

// Texts that are computed together.
struct Group {
  std::size_t first_text = 0;
  std::size_t texts = 0;
  std::size_t first_token = 0;
  std::size_t tokens = 0;
};

// Divides the texts into about 256 tokens each, with equally many groups for each member and sizes as equal as
// whole texts allow.
[[nodiscard]] std::vector<Group> groups_of(const Batch& batch, std::size_t members);

// Whether all members should share the steps of one group, rather than compute whole groups each.
[[nodiscard]] bool should_share(const Batch& batch, const std::vector<Group>& groups, std::size_t members);

}  // namespace latebind::native
