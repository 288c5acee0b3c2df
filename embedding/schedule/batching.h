// Batching: divides texts into batches so that little time is spent on padding.
//
// Texts are taken longest first, so that neighbours have similar lengths and the most expensive batches start first.
// divide() minimizes the sum of padding and the cost of the runs. A batch that does not fill the budget has up to 8
// rows or a power of two, and the widths of batches with several rows go in steps (each length up to 16 tokens, then 8
// steps per octave): vendors keep state for every shape that they encounter, so few shapes mean little memory in a long
// run. For a device that leaves padding out, batches are formed by the number of tokens alone; for one that packs
// tokens, by the cost of attention as well.
//
// All functions are pure, and any thread may call them. The same lengths give the same plan on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "embedding/schedule/ready_shapes.h"

namespace latebind::embedding {

// The rows order[first] … order[first + count - 1] of a plan, each padded to `width` tokens.
struct Batch {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t width = 0;
};

struct BatchPlan {
  // The position of each text, longest text first; texts of equal length keep their order.
  std::vector<std::uint32_t> order;
  // The batches, in the order in which they should start. They cover the texts in `order` that have tokens, without
  // gaps.
  std::vector<Batch> batches;
  std::uint64_t tokens = 0;         // sum of the lengths
  std::uint64_t padded_tokens = 0;  // computed tokens: the sum of rows * width, or of the lengths
};

struct BatchLimits {
  // The tokens of a batch, padding included unless the device leaves it out. A longer text is a batch by itself.
  std::size_t tokens = 2048;
  // The number of batches that are computed in parallel. With more than one, the last batches get smaller and smaller,
  // so that the workers finish together, and a few texts are distributed over all workers.
  std::size_t workers = 1;
  // More work follows at once (a stream's next window), so the last batches need not get smaller.
  bool more_follows = false;
  // The largest width of a batch, except for a longer text; 0 means unlimited.
  std::size_t longest = 0;
  // The device leaves padding out, or computes padding only in attention.
  bool without_padding = false;
  bool packs_tokens = false;
  // Set if the device accepts only static shapes: their lengths, ascending, and the rows of each. Each text then goes
  // to the shortest length that fits, and `tokens` and tapering have no effect. Texts longer than all of them keep
  // their length.
  std::span<const std::size_t> static_lengths{};
  std::size_t static_rows = 0;
};

// The largest batch, in tokens, on a device that leaves padding out. Larger batches are no faster, and delay the next
// caller. Measured with all-MiniLM-L6-v2 on two cores of an AMD EPYC (Zen 4), a batch on each: 256 tokens are as fast
// as 512 in f32, bf16 and int8, 128 within 0.6 %, 64 within 2 %.
inline constexpr std::size_t kTokensWithoutPadding = 256;

// The limits of one batch.
struct BatchShape {
  std::size_t tokens = 0;
  std::size_t longest = 0;
  std::size_t static_rows = 0;  // 0 for any shape
  bool without_padding = false;
  bool packs_tokens = false;
  std::size_t kept_shapes = 0;  // see ReadyShapes

  // Without padding: the tokens of a full batch, and of the next batch if `remaining` tokens are left for all workers.
  // Each worker gets an equal share as one batch, unless the share is too small to be worth a run.
  [[nodiscard]] std::size_t full_tokens() const { return std::min(tokens, kTokensWithoutPadding); }
  [[nodiscard]] std::size_t next_tokens(std::uint64_t remaining, std::size_t workers) const;
  // Without padding: the most elements (rows times width) of a batch. The tensors are still padded, and another device
  // may have to compute them if this one fails.
  [[nodiscard]] std::size_t padded_max() const { return kPaddedMost * full_tokens(); }

  // The width of a batch with several texts, the longest with `length` tokens.
  [[nodiscard]] std::size_t width(std::size_t length) const;
  [[nodiscard]] std::size_t rows_max(std::size_t width) const;
  // Returns whether a batch with this many rows has one of the few shapes in use.
  [[nodiscard]] bool allows(std::size_t rows, std::size_t width) const;

  // With packed tokens: the most rows of a batch.
  [[nodiscard]] std::size_t packed_rows_max(std::size_t width) const;
  // With packed tokens: the cost of a run, in parts of a token.
  [[nodiscard]] static std::uint64_t packed_cost(std::uint64_t tokens, std::size_t rows, std::size_t width);

 private:
  static constexpr std::size_t kPaddedMost = 8;
  static constexpr std::size_t kPackedMost = 2;
};

// The cost of a run of the model besides its tokens, in tokens: saving a run pays for this much padding. On two cores
// of an AMD EPYC a run of all-MiniLM-L6-v2 takes 2 to 4 ms more than its tokens, and a token 0.13 ms.
inline constexpr std::size_t kRunTokens = 24;

// With packed tokens: a token costs kCostOfToken parts. Attention adds, for each place of the batch (padding included),
// kCostOfPlace parts and one more for each place in its row. Measured with all-MiniLM-L6-v2 in OpenVINO, on the same
// machine.
inline constexpr std::uint64_t kCostOfToken = 1024;
inline constexpr std::uint64_t kCostOfPlace = 80;

// The cost of preparing a new shape, in tokens: 2.5 ms with that model in OpenVINO, and somewhat less, because later
// batches use the shape too.
inline constexpr std::size_t kNewShapeTokens = 16;

// How batches get smaller towards the end of the work, so that several workers finish together.
struct Taper {
  std::size_t workers = 1;         // 1: no tapering
  std::uint64_t later_tokens = 0;  // tokens to compute after these texts
};

// Divides texts into batches of neighbours and returns the cheapest division that the shape allows (dynamic
// programming, linear in the number of texts). `lengths` descends and has no zeros. Without padding, each batch is as
// large as allowed. `shape` must not be static. Prefers shapes that are `ready` if that is cheaper, including wider
// ones than needed, so that few shapes are in use when many texts of all lengths arrive.
[[nodiscard]] std::vector<Batch> divide(std::span<const std::uint32_t> lengths, const BatchShape& shape,
                                        const Taper& taper, const ReadyShapes& ready = {});

// Returns the shortest static length that fits the text, or the text's length if none fits.
[[nodiscard]] std::size_t static_width(std::size_t length, std::span<const std::size_t> lengths);

// Plans the batches of at most 2^32 - 1 texts. Texts without a token are at the end of `order` and in no batch.
[[nodiscard]] BatchPlan plan_batches(std::span<const std::uint32_t> lengths, const BatchLimits& limits);

}  // namespace latebind::embedding
