// PostProcessor: the last part of a tokenizer, which puts special tokens before and after every text.
//
// Whatever its kind in the file, it comes down to these tokens, so it is a value, not a class to derive from: each file
// in post_processors/ reads one, and part_table.h has them by name. Immutable in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace latebind::embedding {

struct PostProcessor {
  std::vector<std::int32_t> before;
  std::vector<std::int32_t> behind;

  [[nodiscard]] std::size_t added_tokens() const { return before.size() + behind.size(); }

  void begin(std::vector<std::int32_t>& ids) const { ids.insert(ids.end(), before.begin(), before.end()); }
  void end(std::vector<std::int32_t>& ids) const { ids.insert(ids.end(), behind.begin(), behind.end()); }
};

}  // namespace latebind::embedding
