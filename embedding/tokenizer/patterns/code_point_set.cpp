#include "embedding/tokenizer/patterns/code_point_set.h"

#include <algorithm>

namespace latebind::embedding {

CodePointSet::CodePointSet(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
  std::sort(ranges_.begin(), ranges_.end());
  std::size_t kept = 0;
  for (const Range& range : ranges_) {
    if (kept > 0 && range.first <= ranges_[kept - 1].last + 1) {
      ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, range.last);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
}

CodePointSet CodePointSet::united(const CodePointSet& other) const {
  std::vector<Range> both = ranges_;
  both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
  return CodePointSet(std::move(both));
}

CodePointSet CodePointSet::complement() const {
  std::vector<Range> between;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) between.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next < unicode::kCodePointEnd) between.push_back({next, unicode::kCodePointEnd - 1});
  return CodePointSet(std::move(between));
}

}  // namespace latebind::embedding
