// Batch: the tokens of one run, one after the other without padding, and the memory it is computed in. A run owns its
// batch; executables keep batches between runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/native/memory/buffer.h"

namespace latebind::native {

// The slots of one thread, or of all threads if they share the steps of a plan.
struct Workspace {
  Buffer slots;
};

struct Batch {
  // For each of Plan::inputs, one number for each token.
  std::vector<std::vector<std::uint32_t>> ids;
  std::vector<std::uint32_t> positions;       // of each token in its text
  std::vector<std::uint32_t> counted_places;  // each token's row in position tables, if the plan counts rows
                                              // (Plan::counted_places)
  std::vector<std::size_t> first;             // each text's first token, and the number of tokens at the end
  std::vector<std::size_t> unattended;        // number of unattended tokens at the end of each text, if the plan may
                                              // have such
  std::size_t padded = 0;                     // tokens of each text in the caller's tensors, including padding

  // Memory that is kept between runs.
  std::vector<Workspace> workspaces;
  std::vector<Buffer> scratch;  // one for each thread

  [[nodiscard]] std::size_t texts() const { return first.size() - 1; }
  [[nodiscard]] std::size_t tokens() const { return first.back(); }
};

}  // namespace latebind::native
