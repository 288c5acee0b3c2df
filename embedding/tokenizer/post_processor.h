// PostProcessor: the special tokens that stand before and behind every text.
//
// What TemplateProcessing and BertProcessing come to for a single text. A value; immutable in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
