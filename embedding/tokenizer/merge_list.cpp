#include "embedding/tokenizer/merge_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/quote.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

void MergeList::reserve(std::size_t json_bytes) {
  entries_.reserve(std::min(json_bytes / 14, kMergesMax));
  bytes_.reserve(json_bytes / 2);
}

Status MergeList::add(std::string_view left, std::string_view right) {
  if (left.size() > Vocabulary::kTokenBytesMax || right.size() > Vocabulary::kTokenBytesMax) {
    return {StatusCode::kUnsupported,
            fmt::format("merge {} has a token of more than {} bytes", size(), Vocabulary::kTokenBytesMax)};
  }
  if (size() >= kMergesMax) return {StatusCode::kUnsupported, fmt::format("more than {} merges", kMergesMax)};
  entries_.push_back({static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint16_t>(left.size()),
                      static_cast<std::uint16_t>(right.size())});
  bytes_.append(left).append(right);
  return {};
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
