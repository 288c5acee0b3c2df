// Encodes two texts as one row of ids.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "embedding/tokenizer/tokenizer_inside.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// How many tokens of two texts are kept in this much room. Source: truncate_encodings() of tokenizers.
Result<std::pair<std::size_t, std::size_t>> kept_tokens(std::size_t first, std::size_t second, std::size_t room,
                                                        PairTruncation truncation) {
  if (first + second <= room) return std::pair{first, second};
  if (truncation == PairTruncation::kLongestFirst) {
    const auto [shorter, longer] = std::minmax(first, second);
    const bool first_is_longer = first > second;
    if (shorter > room / 2) {
      const std::size_t small = room / 2;
      const std::size_t large = room - small;
      return first_is_longer ? std::pair{large, small} : std::pair{small, large};
    }
    return first_is_longer ? std::pair{std::min(longer, room - shorter), shorter}
                           : std::pair{shorter, std::min(longer, room - shorter)};
  }
  const bool cuts_first = truncation == PairTruncation::kOnlyFirst;
  if ((cuts_first ? second : first) >= room) {
    return Status(StatusCode::kTextTooLong,
                  fmt::format("the {} text, which must not be cut, leaves no room for the other one in {} tokens",
                              cuts_first ? "second" : "first", room));
  }
  return cuts_first ? std::pair{room - second, second} : std::pair{first, room - first};
}

}  // namespace

Result<EncodedPair> Tokenizer::encode_pair(std::string_view first, std::string_view second, const PairLimits& limits,
                                           std::vector<std::int32_t>& ids) const {
  LB_RETURN_IF_ERROR(parts_->parts.post_processor.pair.status());
  const PairProcessor& around = *parts_->parts.post_processor.pair;
  const std::size_t added = around.added_tokens();
  for (const auto& [text, name] : {std::pair{first, "the first text"}, std::pair{second, "the second text"}}) {
    LB_RETURN_IF_ERROR(check(text, limits.max_tokens, added).with_context(name));
  }
  const std::size_t begin = ids.size();
  EncodedPair pair;
  const auto encode = [&]() -> Status {
    const std::size_t room = limits.max_tokens - added;
    ids.insert(ids.end(), around.before.begin(), around.before.end());
    const std::size_t first_begin = ids.size();
    std::vector<std::int32_t> second_ids;
    const auto append = [&](std::string_view text, bool whole, std::vector<std::int32_t>& to) {
      const std::size_t left = to.max_size() - to.size();
      parts_->encode(text, whole || room >= left ? to.max_size() : to.size() + room + 1, to);
    };
    const auto append_both = [&](bool whole) {
      append(first, whole, ids);
      append(second, whole, second_ids);
      return ids.size() - first_begin;
    };
    // One token more than there is room for shows that a text is too long. Its exact length only matters if both are
    // too long: the longer one then gets the odd token of two halves.
    std::size_t first_count = append_both(limits.keep_end);
    const bool has_odd_token = limits.truncation == PairTruncation::kLongestFirst && room % 2 == 1;
    if (has_odd_token && first_count > room && second_ids.size() > room && !limits.keep_end) {
      ids.resize(first_begin);
      second_ids.clear();
      first_count = append_both(true);
    }
    LB_ASSIGN_OR_RETURN(const auto kept, kept_tokens(first_count, second_ids.size(), room, limits.truncation));
    pair.first_tokens = kept.first;
    pair.first_is_cut = kept.first < first_count;
    pair.is_cut = pair.first_is_cut || kept.second < second_ids.size();
    pair.lacks_a_text = (kept.first == 0 && first_count > 0) || (kept.second == 0 && !second_ids.empty());
    keep_tokens(ids, first_begin, kept.first, limits.keep_end);
    keep_tokens(second_ids, 0, kept.second, limits.keep_end);
    const std::size_t between_begin = ids.size();
    ids.insert(ids.end(), around.between.begin(), around.between.end());
    ids.insert(ids.end(), second_ids.begin(), second_ids.end());
    ids.insert(ids.end(), around.after.begin(), around.after.end());
    pair.type_one_from = (around.type_one_from ? between_begin + *around.type_one_from : ids.size()) - begin;
    return {};
  };
  const Status status = within_limits(first.size() + second.size(), encode);
  if (status.ok()) return pair;
  ids.resize(begin);
  return status;
}

}  // namespace latebind::embedding
