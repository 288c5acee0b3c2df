// Batch: the tokens of one run, one after the other without padding, and the memory that it is computed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/native/memory/buffer.h"

namespace latebind::native {

// Of one thread, or of those that share the steps of a plan.
struct Workspace {
  Buffer slots;
};

struct Batch {
  // By Plan::inputs, a number for each token.
  std::vector<std::vector<std::uint32_t>> ids;
  std::vector<std::uint32_t> positions;       // of each token in its text
  std::vector<std::uint32_t> counted_places;  // the same in tables by position, where the plan counts them
  std::vector<std::size_t> first;             // token of each text, and one past the last
  std::vector<std::size_t> unattended;        // the last tokens of each text, where the plan may have such
  std::size_t padded = 0;                     // tokens of each text in the caller's tensors

  // Kept between runs.
  std::vector<Workspace> workspaces;
  std::vector<Buffer> attention;  // of each thread

  [[nodiscard]] std::size_t texts() const { return first.size() - 1; }
  [[nodiscard]] std::size_t tokens() const { return first.back(); }
};

}  // namespace latebind::native
