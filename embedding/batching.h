// Batching: which texts are computed together, so that little is spent on padding.
//
// Texts are taken longest first, so that neighbours have similar lengths and the most expensive batches start first.
// They are divided so that padding and the cost of runs together are least (divide()). A batch that does not fill the
// budget has up to 8 rows or a power of two, and the widths of batches with several rows go in steps (each length up to
// 16 tokens, then 8 steps per octave): vendors keep state for every shape that they encounter, so few shapes mean
// little memory in a long run. For a device that leaves padding out, batches are formed of whole texts, by their tokens
// alone; for one that packs tokens by what attention costs, too. Pure functions of their arguments: the same lengths
// give the same plan on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "embedding/ready_shapes.h"

namespace latebind::embedding {

// Rows order[first] … order[first + count - 1] of a plan, each padded to `width` tokens.
struct Batch {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t width = 0;
};

struct BatchPlan {
  // Every text's position once, longest text first; texts of equal length keep their order.
  std::vector<std::uint32_t> order;
  // Cover `order` without gaps, in the order in which they should start.
  std::vector<Batch> batches;
  std::uint64_t tokens = 0;         // sum of the lengths
  std::uint64_t padded_tokens = 0;  // what is computed: sum of rows * width, or of the lengths
};

struct BatchLimits {
  // Tokens of a batch, padding included unless the device leaves it out. A longer text is a batch by itself.
  std::size_t tokens = 2048;
  // Batches that are computed in parallel. With more than one, the last batches get smaller and smaller, so that the
  // workers finish together, and a few texts are shared out among all workers.
  std::size_t workers = 1;
  // More work follows at once (a stream's next window): the last batches need not get smaller.
  bool more_follows = false;
  // No batch is made wider than this, but for a text that is longer; 0: no limit.
  std::size_t longest = 0;
  // The device leaves padding out, or all but that of attention.
  bool without_padding = false;
  bool packs_tokens = false;
  // Where the device takes only static shapes: their lengths, ascending, and rows of each. A batch then has one shape,
  // and every text goes to the shortest that it fits into; `tokens` and tapering do not matter. Texts longer than all
  // keep their length.
  std::span<const std::size_t> static_lengths{};
  std::size_t static_rows = 0;
};

// Tokens of a batch at most on a device that leaves padding out: with more it is no faster, and whoever comes next
// waits for it. all-MiniLM-L6-v2 on two cores of an AMD EPYC (Zen 4), a batch on each: 256 tokens are as fast as 512 in
// f32, bf16 and int8, 128 within 0.6 %, 64 within 2 %.
inline constexpr std::size_t kTokensWithoutPadding = 256;

// Limits of one batch.
struct BatchShape {
  std::size_t tokens = 0;
  std::size_t longest = 0;
  std::size_t static_rows = 0;  // 0: any shape
  bool without_padding = false;
  bool packs_tokens = false;
  std::size_t kept_shapes = 0;  // see ReadyShapes

  // Without padding: of a full batch, and of the next one when `remaining` are left for all workers. These get a share
  // each, in one batch, as far as it is not too small to be worth a run.
  [[nodiscard]] std::size_t full_tokens() const { return std::min(tokens, kTokensWithoutPadding); }
  [[nodiscard]] std::size_t next_tokens(std::uint64_t remaining, std::size_t workers) const;
  // And numbers that the tensors of a batch have at most: they are padded all the same, and another device may have to
  // compute them when this one fails.
  [[nodiscard]] std::size_t padded_max() const { return kPaddedMost * full_tokens(); }

  // The number of tokens to which several texts are padded, of which the longest has `length`.
  [[nodiscard]] std::size_t width(std::size_t length) const;
  [[nodiscard]] std::size_t rows_max(std::size_t width) const;
  // Whether a batch with this many rows has one of the few shapes that are used.
  [[nodiscard]] bool allows(std::size_t rows, std::size_t width) const;

  // Where tokens are packed: rows that the tensors of a batch have room for.
  [[nodiscard]] std::size_t packed_rows_max(std::size_t width) const;
  // What a run costs, in parts of a token.
  [[nodiscard]] static std::uint64_t packed_cost(std::uint64_t tokens, std::size_t rows, std::size_t width);

 private:
  static constexpr std::size_t kPaddedMost = 8;
  static constexpr std::size_t kPackedMost = 2;
};

// What a run of the model costs beside its tokens, in tokens: so much padding is paid back by a run that need not be
// made. On two cores of an AMD EPYC a run of all-MiniLM-L6-v2 takes 2 to 4 ms more than its tokens, and a token 0.13.
inline constexpr std::size_t kRunTokens = 24;

// Where tokens are packed, what attention costs for each place, padding or not, in parts of a token: so much, and one
// more for each place in its row. Of all-MiniLM-L6-v2 in OpenVINO, on the same machine.
inline constexpr std::uint64_t kCostOfToken = 1024;
inline constexpr std::uint64_t kCostOfPlace = 80;

// What making a new shape ready costs, the same way: 2.5 ms of that model in OpenVINO, and somewhat less, because it
// will be ready for others.
inline constexpr std::size_t kNewShapeTokens = 16;

// How batches get smaller towards the end of the work, so that several workers finish together.
struct Taper {
  std::size_t workers = 1;         // 1: they do not
  std::uint64_t later_tokens = 0;  // what is to be computed besides
};

// Divides texts, by descending length and none without a token, into batches of neighbours: of all ways that the shape
// allows, the one that costs least (dynamic programming; linear in the number of texts). Without padding each batch is
// as large as it may be. Not for static shapes. Shapes that are `ready` are preferred as far as that pays, also wider
// ones than needed, so that few are in use where many texts of all lengths come.
[[nodiscard]] std::vector<Batch> divide(std::span<const std::uint32_t> lengths, const BatchShape& shape,
                                        const Taper& taper, const ReadyShapes& ready = {});

// The shortest of the static lengths that a text fits in; its own length where it fits none.
[[nodiscard]] std::size_t static_width(std::size_t length, std::span<const std::size_t> lengths);

// Texts without a token are in no batch; they end `order`. At most 2^32 - 1 texts.
[[nodiscard]] BatchPlan plan_batches(std::span<const std::uint32_t> lengths, const BatchLimits& limits);

}  // namespace latebind::embedding
