#include "embedding/batching.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace latebind::embedding {
namespace {

// Below this a batch is too small to keep one worker's arithmetic units busy.
constexpr std::size_t kTaperedTokensMin = 256;

// Up to here a batch may have any number of rows: dividing so few costs more than a new shape does.
constexpr std::size_t kAnyRowsMost = 8;

// How many tokens the next batch may have when `remaining` are left for all workers: half of a worker's share, so that
// an uneven run can still be evened out by the batches after it.
std::size_t tapered(std::size_t budget, std::uint64_t remaining, const BatchLimits& limits) {
  if (limits.workers <= 1 || limits.more_follows) return budget;
  const auto share = static_cast<std::size_t>(remaining / (2 * limits.workers));
  return std::min(budget, std::max(share, kTaperedTokensMin));
}

// Lengths are rounded up to this many steps per octave: some 2 % more to compute for a quarter of the shapes.
constexpr std::size_t kStepsInOctave = 16;

// The shortest of the static lengths that the text fits in.
std::size_t static_width(std::size_t length, std::span<const std::size_t> lengths) {
  const auto fits = std::ranges::lower_bound(lengths, length);
  return fits == lengths.end() ? length : *fits;
}

}  // namespace

std::size_t BatchShape::width(std::size_t length) const {
  if (static_rows > 0) return length;
  const std::size_t step = std::max<std::size_t>(1, std::bit_ceil(length) / (2 * kStepsInOctave));
  const std::size_t width = (length + step - 1) / step * step;
  return longest == 0 ? width : std::max(length, std::min(width, longest));
}

std::size_t BatchShape::rows_max(std::size_t width) const {
  return static_rows > 0 ? static_rows : std::max<std::size_t>(1, tokens / width);
}

bool BatchShape::allows(std::size_t rows, std::size_t width) const {
  if (rows > rows_max(width)) return false;
  return static_rows > 0 || rows <= kAnyRowsMost || std::has_single_bit(rows) || rows == rows_max(width);
}

BatchPlan plan_batches(std::span<const std::uint32_t> lengths, const BatchLimits& limits) {
  BatchPlan plan;
  plan.order.resize(lengths.size());
  std::iota(plan.order.begin(), plan.order.end(), std::uint32_t{0});
  std::sort(plan.order.begin(), plan.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b;
  });
  plan.tokens = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});

  const bool is_static = !limits.static_lengths.empty();
  const BatchShape shape{.tokens = limits.tokens,
                         .longest = limits.longest,
                         .static_rows = is_static ? std::max<std::size_t>(1, limits.static_rows) : 0};
  const auto width_of = [&](std::size_t length) {
    return is_static ? static_width(length, limits.static_lengths) : shape.width(length);
  };
  std::uint64_t remaining = plan.tokens;
  std::size_t first = 0;
  while (first < plan.order.size() && lengths[plan.order[first]] > 0) {
    std::size_t width = width_of(lengths[plan.order[first]]);
    const std::size_t full = shape.rows_max(width);
    const std::size_t rows_max =
        is_static ? full : std::clamp<std::size_t>(tapered(limits.tokens, remaining, limits) / width, 1, full);
    std::size_t end = first;
    while (end < plan.order.size() && end - first < rows_max && lengths[plan.order[end]] > 0 &&
           (!is_static || width_of(lengths[plan.order[end]]) == width)) {
      ++end;
    }
    if (!shape.allows(end - first, width)) end = first + std::bit_floor(end - first);
    // A single text is computed at its own length.
    if (!is_static && end - first == 1) width = lengths[plan.order[first]];
    for (std::size_t i = first; i < end; ++i)
      remaining -= lengths[plan.order[i]];
    plan.batches.push_back({first, end - first, width});
    // A static shape is computed whole, however few rows of it are used.
    plan.padded_tokens += (is_static ? rows_max : end - first) * width;
    first = end;
  }
  return plan;
}

}  // namespace latebind::embedding
