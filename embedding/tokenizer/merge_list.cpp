#include "embedding/tokenizer/merge_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/text/quote.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

void MergeList::reserve(std::size_t json_bytes) {
  entries_.reserve(std::min(json_bytes / 14, kMergesMax));
}

Status MergeList::add(std::string_view left, std::string_view right) {
  static_assert(kHalfBytesMax <= std::numeric_limits<decltype(Entry::left_size)>::max());
  if (left.size() > kHalfBytesMax || right.size() > kHalfBytesMax) {
    return {StatusCode::kUnsupported, fmt::format("merge {} has a token of more than {} bytes", size(), kHalfBytesMax)};
  }
  if (size() >= kMergesMax) return {StatusCode::kUnsupported, fmt::format("more than {} merges", kMergesMax)};
  entries_.push_back({left.data(), static_cast<std::uint32_t>(right.data() - left.data()),
                      static_cast<std::uint16_t>(left.size()), static_cast<std::uint16_t>(right.size())});
  return {};
}

std::string_view MergeList::keep(std::string_view left, std::string_view right) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 16;
  const std::size_t size = left.size() + right.size();
  if (kept_.empty() || kept_.back().capacity() - kept_.back().size() < size) {
    kept_.emplace_back().reserve(std::max(size, kAtOnce));
  }
  std::string& texts = kept_.back();
  const std::size_t begin = texts.size();
  texts.append(left).append(right);
  return std::string_view(texts).substr(begin);
}

Status MergeList::add_line(std::string_view line) {
  if (line.starts_with("#version")) return {};
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
    return {StatusCode::kInvalidModel,
            fmt::format("merge {}, {}, is not two tokens with a space between", size(), core::quoted(line))};
  }
  return add(line.substr(0, space), line.substr(space + 1));
}

}  // namespace latebind::embedding
