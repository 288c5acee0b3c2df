#include "embedding/tokenizer/models/bpe_merges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "core/threads/in_background.h"
#include "embedding/tokenizer/short_bytes.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// Turns the texts of some consecutive merges into ids. One thread.
class MergeReader {
 public:
  MergeReader(const Vocabulary& vocabulary, std::size_t prefix_size)
      : vocabulary_(vocabulary), prefix_size_(prefix_size) {}

  // Reads as many merges as `ids` has elements, from `begin` on.
  Status read(const MergeList& list, std::size_t begin, std::span<MergeIds> ids) {
    std::array<std::string_view, kAtOnce * 2> halves;
    std::array<std::int32_t, kAtOnce * 2> found{};
    for (std::size_t done = 0; done < ids.size(); done += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, ids.size() - done);
      for (std::size_t k = 0; k < count; ++k) {
        halves[2 * k] = list[begin + done + k].left;
        halves[2 * k + 1] = list[begin + done + k].right;
      }
      vocabulary_.find_all(std::span(halves).first(2 * count), std::span(found).first(2 * count));
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t rank = begin + done + k;
        const std::string_view right = halves[2 * k + 1];
        LB_RETURN_IF_ERROR(check(halves[2 * k], found[2 * k], rank));
        LB_RETURN_IF_ERROR(check(right, found[2 * k + 1], rank));
        // The prefix is cut off by its length, whatever its text.
        if (right.size() < prefix_size_ ||
            (right.size() > prefix_size_ && core::is_utf8_continuation(right[prefix_size_]))) {
          return {StatusCode::kInvalidModel, fmt::format("model.merges: {} of merge {} does not begin with the prefix",
                                                         core::quoted(right), rank)};
        }
        const std::int32_t made = find_made(halves[2 * k], right.substr(prefix_size_));
        LB_RETURN_IF_ERROR(check(both_, made, rank));
        ids[done + k] = {found[2 * k], found[2 * k + 1], made};
      }
    }
    return {};
  }

 private:
  static constexpr std::size_t kAtOnce = 32;

  [[nodiscard]] static Status check(std::string_view token, std::int32_t id, std::size_t rank) {
    if (id >= 0) return {};
    return {StatusCode::kInvalidModel,
            fmt::format("model.merges: {} of merge {} is not in the vocabulary", core::quoted(token), rank)};
  }
  // The id of the merged token; if there is none, its text is in `both_`. Most files list the tokens in the order of
  // the merges.
  std::int32_t find_made(std::string_view left, std::string_view right) {
    for (const std::int32_t id : {last_made_ + 1, last_made_}) {
      const auto token = vocabulary_.token(id);
      if (token && token->size() == left.size() + right.size() && same_bytes(token->data(), left.data(), left.size()) &&
          same_bytes(token->data() + left.size(), right.data(), right.size())) {
        return last_made_ = id;
      }
    }
    both_.assign(left).append(right);
    const auto id = vocabulary_.find(both_);
    return id ? last_made_ = *id : -1;
  }

  const Vocabulary& vocabulary_;
  const std::size_t prefix_size_;
  std::int32_t last_made_ = -1;
  std::string both_;
};

}  // namespace

Status read_merges(const MergeList& list, const Vocabulary& vocabulary, std::size_t prefix_size,
                   std::span<MergeIds> ids) {
  constexpr std::size_t kWorthAThread = 20'000;
  const std::size_t half = list.size() < kWorthAThread ? list.size() : list.size() / 2;
  core::InBackground<Status> second;
  if (half < list.size()) {
    second = core::in_background([&list, &vocabulary, prefix_size, half, rest = ids.subspan(half)] {
      return MergeReader(vocabulary, prefix_size).read(list, half, rest);
    });
  }
  LB_RETURN_IF_ERROR(MergeReader(vocabulary, prefix_size).read(list, 0, ids.first(half)));
  return second.valid() ? second.get() : Status();
}

Result<MergeTable> make_table(std::span<const MergeIds> merges) {
  constexpr std::size_t kAhead = 16;  // number of merges whose memory is prefetched
  MergeTable table(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const MergeIds& ahead = merges[std::min(rank + kAhead, merges.size() - 1)];
    table.prefetch(ahead.left, ahead.right);
    const auto& [left, right, made] = merges[rank];
    if (!table.add(left, right, {static_cast<std::uint32_t>(rank), made})) {
      return Status(StatusCode::kUnsupported, "model.merges: the pairs have too many hash collisions");
    }
  }
  return table;
}

}  // namespace latebind::embedding
