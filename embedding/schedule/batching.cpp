#include "embedding/schedule/batching.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/octave_steps.h"

namespace latebind::embedding {
namespace {

// A smaller batch does not keep one worker's arithmetic units busy.
constexpr std::size_t kTaperedTokensMin = 256;

// The same limit without padding, where a run costs no more than a few tokens.
constexpr std::uint64_t kUnpaddedTokensMin = 128;

// Up to this size, a batch may have any number of rows: dividing so few rows costs more than a new shape.
constexpr std::size_t kAnyRowsMost = 8;

// Returns the largest size of the next batch if `remaining` tokens are left for all workers: half of a worker's share,
// so that later batches can still even out an uneven run.
std::size_t tapered(std::size_t budget, std::uint64_t remaining, const Taper& taper) {
  if (taper.workers <= 1) return budget;
  const auto share = static_cast<std::size_t>(remaining / (2 * taper.workers));
  return std::min(budget, std::max(share, kTaperedTokensMin));
}

// Lengths are rounded up to this many steps per octave: some 3 % more to compute for an eighth of the shapes.
constexpr std::size_t kStepsInOctave = 8;

// Coarser steps if only attention is padded.
constexpr std::size_t kPackedStepsInOctave = 4;
constexpr std::size_t kPackedStep = 8;

}  // namespace

std::size_t BatchShape::width(std::size_t length) const {
  if (static_rows > 0) return length;
  const std::size_t width = packs_tokens ? core::in_octave_steps(length, kPackedStepsInOctave, kPackedStep)
                                         : core::in_octave_steps(length, kStepsInOctave);
  return longest == 0 ? width : std::max(length, std::min(width, longest));
}

std::size_t BatchShape::rows_max(std::size_t width) const {
  return static_rows > 0 ? static_rows : std::max<std::size_t>(1, tokens / width);
}

std::size_t BatchShape::next_tokens(std::uint64_t remaining, std::size_t workers) const {
  const std::uint64_t share = (remaining + workers - 1) / workers;
  return static_cast<std::size_t>(std::min<std::uint64_t>(std::max(share, kUnpaddedTokensMin), full_tokens()));
}

bool BatchShape::allows(std::size_t rows, std::size_t width) const {
  if (rows > rows_max(width)) return false;
  return static_rows > 0 || rows <= kAnyRowsMost || std::has_single_bit(rows) || rows == rows_max(width);
}

std::size_t BatchShape::packed_rows_max(std::size_t width) const {
  return std::max<std::size_t>(1, kPackedMost * tokens / width);
}

std::uint64_t BatchShape::packed_cost(std::uint64_t texts_tokens, std::size_t rows, std::size_t width) {
  return (texts_tokens + kRunTokens) * kCostOfToken + rows * width * (kCostOfPlace + width);
}

namespace {

// Like divide(), by the same dynamic programming, with any number of texts in a batch.
std::vector<Batch> divide_packed(std::span<const std::uint32_t> lengths, const BatchShape& shape, const Taper& taper) {
  const std::size_t count = lengths.size();
  std::vector<std::uint64_t> cost(count + 1, 0);
  std::vector<std::size_t> rows(count, 1);
  // tokens[i] is the number of tokens of the texts from i on.
  std::vector<std::uint64_t> tokens(count + 1, 0);
  for (std::size_t i = count; i-- > 0;) {
    tokens[i] = tokens[i + 1] + lengths[i];
    const std::size_t width = shape.width(lengths[i]);
    const std::size_t budget = tapered(shape.tokens, taper.later_tokens + tokens[i], taper);
    const std::size_t most = std::min(count - i, shape.packed_rows_max(width));
    cost[i] = BatchShape::packed_cost(lengths[i], 1, lengths[i]) + cost[i + 1];
    for (std::size_t some = 2; some <= most; ++some) {
      const std::uint64_t together = tokens[i] - tokens[i + some];
      if (together > budget) break;
      const std::uint64_t total = BatchShape::packed_cost(together, some, width) + cost[i + some];
      if (total > cost[i]) continue;
      cost[i] = total;
      rows[i] = some;
    }
  }
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < count; i += rows[i])
    batches.push_back({i, rows[i], rows[i] == 1 ? lengths[i] : shape.width(lengths[i])});
  return batches;
}

std::vector<Batch> divide_without_padding(std::span<const std::uint32_t> lengths, const BatchShape& shape,
                                          const Taper& taper) {
  std::uint64_t remaining = taper.later_tokens;
  for (const std::uint32_t length : lengths)
    remaining += length;
  std::vector<Batch> batches;
  for (std::size_t first = 0; first < lengths.size();) {
    const std::size_t width = lengths[first];
    const std::size_t budget = shape.next_tokens(remaining, taper.workers);
    std::size_t tokens = width;
    std::size_t end = first + 1;
    while (end < lengths.size() && tokens + lengths[end] <= budget && (end + 1 - first) * width <= shape.padded_max()) {
      tokens += lengths[end++];
    }
    batches.push_back({first, end - first, width});
    remaining -= tokens;
    first = end;
  }
  return batches;
}

}  // namespace

std::vector<Batch> divide(std::span<const std::uint32_t> lengths, const BatchShape& shape, const Taper& taper,
                          const ReadyShapes& ready) {
  if (shape.without_padding) return divide_without_padding(lengths, shape, taper);
  if (shape.packs_tokens) return divide_packed(lengths, shape, taper);
  // Dynamic programming from the end: cost[i] is the least cost of the texts from i on, and first[i] is the shape of
  // the first batch in the cheapest division of them. Lengths descend, so text i determines the width of a batch that
  // begins with it. A batch costs rows * width + kRunTokens, and kNewShapeTokens if its shape is not ready. Only few
  // numbers of rows are tried at each position (BatchShape::allows()), and ready shapes that are wider; so the time is
  // linear in the number of texts.
  const std::size_t count = lengths.size();
  std::vector<std::uint64_t> cost(count + 1, 0);
  std::vector<ReadyShape> first(count);
  std::vector<ReadyShape> by_width(ready.all().begin(), ready.all().end());
  std::ranges::sort(by_width, {}, [](const ReadyShape& each) { return std::pair(each.width, each.rows); });
  const auto is_ready = [&](const ReadyShape& one) {
    return std::ranges::binary_search(by_width, std::pair(one.width, one.rows), {},
                                      [](const ReadyShape& each) { return std::pair(each.width, each.rows); });
  };
  std::uint64_t remaining = taper.later_tokens;
  for (std::size_t i = count; i-- > 0;) {
    remaining += lengths[i];
    const std::size_t width = shape.width(lengths[i]);
    const std::size_t full = shape.rows_max(width);
    const std::size_t most =
        std::min(count - i, std::clamp<std::size_t>(tapered(shape.tokens, remaining, taper) / width, 1, full));
    const auto consider = [&](std::size_t some) {
      // A single text is computed at its exact length.
      const ReadyShape one{some, some == 1 ? lengths[i] : width};
      std::uint64_t total = some * one.width + kRunTokens + cost[i + some];
      if (ready.matters() && !is_ready(one)) total += kNewShapeTokens;
      if (some > 1 && total > cost[i]) return;
      cost[i] = total;
      first[i] = one;
    };
    consider(1);
    for (std::size_t some = 2; some <= std::min(most, kAnyRowsMost); ++some)
      consider(some);
    for (std::size_t some = 2 * kAnyRowsMost; some <= most; some *= 2)
      consider(some);
    if (full <= most && full > kAnyRowsMost) consider(full);
    const auto wide = std::ranges::lower_bound(by_width, lengths[i], {}, &ReadyShape::width);
    for (auto one = wide; one != by_width.end(); ++one) {
      if (one->rows > most) continue;
      const std::uint64_t total = one->rows * one->width + kRunTokens + cost[i + one->rows];
      if (total >= cost[i]) continue;
      cost[i] = total;
      first[i] = *one;
    }
  }
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < count; i += first[i].rows)
    batches.push_back({i, first[i].rows, first[i].width});
  return batches;
}

std::size_t static_width(std::size_t length, std::span<const std::size_t> lengths) {
  const auto fits = std::ranges::lower_bound(lengths, length);
  return fits == lengths.end() ? length : *fits;
}

BatchPlan plan_batches(std::span<const std::uint32_t> lengths, const BatchLimits& limits) {
  BatchPlan plan;
  plan.order.resize(lengths.size());
  std::iota(plan.order.begin(), plan.order.end(), std::uint32_t{0});
  std::sort(plan.order.begin(), plan.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b;
  });
  plan.tokens = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  std::vector<std::uint32_t> sorted;
  sorted.reserve(lengths.size());
  for (const std::uint32_t text : plan.order) {
    if (lengths[text] == 0) break;
    sorted.push_back(lengths[text]);
  }

  if (limits.static_lengths.empty()) {
    const BatchShape shape{.tokens = limits.tokens,
                           .longest = limits.longest,
                           .without_padding = limits.without_padding,
                           .packs_tokens = limits.packs_tokens};
    plan.batches = divide(sorted, shape, {.workers = limits.more_follows ? 1 : limits.workers});
    for (const Batch& batch : plan.batches)
      plan.padded_tokens += batch.count * batch.width;
    if (limits.without_padding || limits.packs_tokens) plan.padded_tokens = plan.tokens;
    return plan;
  }
  const std::size_t rows = std::max<std::size_t>(1, limits.static_rows);
  for (std::size_t first = 0; first < sorted.size();) {
    const std::size_t width = static_width(sorted[first], limits.static_lengths);
    std::size_t end = first + 1;
    while (end < sorted.size() && end - first < rows && static_width(sorted[end], limits.static_lengths) == width)
      ++end;
    plan.batches.push_back({first, end - first, width});
    // A static shape is computed completely, however few of its rows are used.
    plan.padded_tokens += rows * width;
    first = end;
  }
  return plan;
}

}  // namespace latebind::embedding
