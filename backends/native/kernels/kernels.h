// Kernels: the inner loops of `native`, one table for each instruction set.
//
// Each table is compiled from kernels.inc.h in a separate file for its instruction set, and that file defines only the
// table. Products that newer instructions add to a table are compiled from products.inc.h in the same way. Code shared
// with other files would carry newer instructions to older processors.
//
// Numbers are f32 and row-major; `stride` is the distance between rows in elements. The operands of a product may have
// fewer bits; a row then consists of 32-bit words with several numbers each. Pointers need no alignment, except that
// panels are aligned to kAlignment. Kernels do not allocate, throw or keep state, and may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/graph/operators.h"

namespace latebind::native {

// Alignment of panels and scratch memory in bytes: a cache line, and the largest vector.
inline constexpr std::size_t kAlignment = 64;

// The representation of a product's operands.
enum class Format : std::uint8_t { kF32, kBF16, kF16, kInt8 };

// Numbers in a word.
constexpr std::size_t group_of(Format format) {
  return format == Format::kInt8 ? 4 : format == Format::kF32 ? 1 : 2;
}

// A matrix of K rows and any number of columns, as a sequence of panels of Kernels::panel_columns columns. Each column
// of a panel has Product::operand_words(K) words, and a word holds consecutive numbers of its column. place_of_word()
// gives the place of each word in the panel. Numbers beyond the last column or row are zero.
struct Panels {
  const float* data = nullptr;
  std::size_t rows = 0;     // K
  std::size_t columns = 0;  // without padding
  // A prefetch hint: the panel that is multiplied by afterwards; null: the panel that follows in memory.
  const float* next = nullptr;
  // Panels of four bits, for products in int8. K is a multiple of kFourBitGroup.
  bool four_bits = false;
};

// In a panel of four bits, each group of rows has kFourBitCodes words of codes and one word of factors for each column.
// The scales of int8 follow after all groups. The codes expand to the bytes of the group in int8, in the order of
// place_of_word(): the low halves of the codes' bytes to its first half, the high halves to its second half. The byte
// of code q is (factor · q + offset) >> 8 in 16-bit integers that wrap around. The low half of a word of factors is
// the factor, the high half is the offset.
inline constexpr std::size_t kFourBitGroup = 32;
inline constexpr std::size_t kFourBitCodes = 4;
// Words of a column's codes and factors.
constexpr std::size_t four_bit_words(std::size_t width) {
  return width / kFourBitGroup * (kFourBitCodes + 1);
}

// The layout is panel[word / side_by_side][column][word % side_by_side].
constexpr std::size_t place_of_word(std::size_t word, std::size_t column, std::size_t panel_columns,
                                    std::size_t side_by_side) {
  return (word / side_by_side * panel_columns + column) * side_by_side + word % side_by_side;
}

// Consecutive numbers of a row or column that share one scale in int8.
inline constexpr std::size_t kInt8Block = 96;

// Words of `width` numbers, rounded up to groups of `side_by_side` words.
constexpr std::size_t words_of(std::size_t width, Format format, std::size_t side_by_side) {
  const std::size_t numbers = group_of(format) * side_by_side;
  return (width + numbers - 1) / numbers * side_by_side;
}
// Additional words after them, for scales: two for each block in int8, one in f16.
constexpr std::size_t words_after(std::size_t width, Format format) {
  return format == Format::kInt8 ? 2 * ((width + kInt8Block - 1) / kInt8Block) : format == Format::kF16 ? 1 : 0;
}

// Powers of two, as the bits of an f32: numbers are multiplied by `factor` to be represented in f16, and results by
// `scale`. `largest` is the largest magnitude as bits; `factor` brings it into the range 8 to 16.
struct F16Scale {
  std::uint32_t factor = 0;
  std::uint32_t scale = 0;  // NaN if the largest number is infinite or NaN
};
constexpr F16Scale f16_scale_of(std::uint32_t largest) {
  constexpr std::uint32_t kNone = 0x7FC00000;
  constexpr std::uint32_t kInfinite = 255;
  const std::uint32_t exponent = largest >> 23;
  // Below 2⁻¹²³ there is no such factor, and the numbers stay smaller.
  const std::uint32_t known = exponent < 4 ? 4 : exponent;
  return {.factor = (257 - known) << 23, .scale = exponent == kInfinite ? kNone : (known - 3) << 23};
}
// The length of a partial sum in f16. Each half of a word accumulates half as many products of numbers up to 16, which
// cannot overflow f16.
inline constexpr std::size_t kF16Part = 192;
static_assert(kF16Part / 2 * 16 * 16 < 65504);

// Rows of a matrix.
struct Rows {
  const float* data = nullptr;
  std::size_t count = 0;
  std::size_t stride = 0;
};
struct MutableRows {
  float* data = nullptr;
  std::size_t count = 0;
  std::size_t stride = 0;
};

// The tables of graph::Disentangled for one head. A place is the index of a row; distance d = t - s has the place
// `span` + d if |d| ≤ `exact`. The pointers are not owned.
struct HeadPlaces {
  // Both tables, packed by Product::pack_keys(). The rows of `keys` are in reverse order. Either may be null.
  const float* keys = nullptr;
  const float* queries = nullptr;
  std::size_t span = 0;
  std::size_t exact = 0;
  // The place of each distance d from -farthest - kPlacesBeyond on, and the column of `keys` for each distance s - t.
  // The first and the last entry apply to all larger distances as well.
  const std::int32_t* of_distance = nullptr;
  const std::int32_t* column_of_distance = nullptr;
  std::size_t farthest = 0;
};
inline constexpr std::size_t kPlacesBeyond = 64;

// Attention of one text and one head. The vectors of token t, `width` numbers long, are at t times the stride.
struct AttentionHead {
  const float* query = nullptr;
  const float* key = nullptr;
  const float* value = nullptr;
  float* out = nullptr;
  std::size_t query_stride = 0;
  std::size_t key_stride = 0;
  std::size_t value_stride = 0;
  std::size_t out_stride = 0;
  std::size_t tokens = 0;
  // Only the first `keys` tokens are attended to.
  std::size_t keys = 0;
  std::size_t width = 0;
  float scale = 1;
  // Scores x become soft_cap · tanh(scale · x / soft_cap), in units of the scale. 0: no cap.
  float soft_cap = 0;
  // Terms added to the scores, in units of the scale, for the distances -farthest to farthest; the outermost ones apply
  // to all larger distances as well. May be null.
  const float* distance_bias = nullptr;
  std::size_t farthest = 0;
  const HeadPlaces* places = nullptr;  // may be null
  // Tokens farther away than this are not attended to.
  std::size_t window = SIZE_MAX;
  // If set, later tokens are not attended to.
  bool causal = false;
  // Asked before every few rows of scores, since the work grows with the square of the tokens. If it returns true, the
  // rest is not computed. May be null.
  bool (*is_over)(void* context) = nullptr;
  void* context = nullptr;
};

// Matrix products in one precision.
//
// int8 works on blocks of kInt8Block numbers of a row or column. A row's numbers are bytes q with x = scale · q +
// shift; q is from 0 to 255, or from -128 to 127 if the instructions take signed bytes. The pairs of scale and shift
// follow the row's words. A column's numbers are from -127 to 127, times a scale. After a panel's words follow, for
// each block, the columns' scales and the sums of their bytes, as f32.
//
// f16 multiplies the numbers of each row and column by a power of two (F16Scale), so that neither products nor their
// partial sums overflow f16. The scales, as f32, follow the words of a row, and the words of a panel's columns.
struct Product {
  Format format = Format::kF32;
  // Adjacent words of a column in a panel: 1, or 2 if an instruction multiplies 2×2 squares.
  std::size_t side_by_side = 1;

  // Converts rows of `width` numbers into operands of multiply, with operand_words(width) words each. Null in f32,
  // which needs no conversion.
  void (*convert)(const Rows& x, std::size_t width, const MutableRows& y) = nullptr;
  // Computes the columns of the panels [first_panel, first_panel + panel_count) of y = a · b + bias; `bias` has
  // b.columns numbers, or is null. The order of summation does not depend on the number of rows. Null: the set does not
  // have this product.
  void (*multiply)(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panel_count, const float* bias,
                   const MutableRows& y) = nullptr;
  // Like graph::Attention, on numbers in f32. `scratch` has attention_scratch(tokens, width, places) numbers and is
  // aligned; places is 2 · HeadPlaces::span, or 0 without places.
  void (*attend)(const AttentionHead& head, float* scratch) = nullptr;
  std::size_t (*attention_scratch)(std::size_t tokens, std::size_t width, std::size_t places) = nullptr;
  // Packs rows of `width` numbers for HeadPlaces. The output has packed_keys(rows, width) numbers and is aligned.
  void (*pack_keys)(const Rows& rows, std::size_t width, float* panels) = nullptr;
  std::size_t (*packed_keys)(std::size_t rows, std::size_t width) = nullptr;

  [[nodiscard]] constexpr bool is_there() const { return multiply != nullptr; }
  [[nodiscard]] constexpr std::size_t words(std::size_t width) const { return words_of(width, format, side_by_side); }
  // Words of a row operand, and of each column of a panel.
  [[nodiscard]] constexpr std::size_t operand_words(std::size_t width) const {
    return words(width) + words_after(width, format);
  }
  // Words of each column of a panel that may have four bits.
  [[nodiscard]] constexpr std::size_t column_words(std::size_t rows, bool four_bits) const {
    return four_bits ? four_bit_words(rows) + words_after(rows, format) : operand_words(rows);
  }
};

inline constexpr std::size_t kPanelColumnsMost = 32;

struct Kernels {
  // For example, "avx2".
  std::string_view name;
  std::size_t panel_columns = 0;  // at most kPanelColumnsMost

  Product f32;
  Product bf16;
  Product f16;
  Product int8;

  // For each row of x, of `width` numbers: x += y.
  void (*add)(const MutableRows& x, const Rows& y, std::size_t width) = nullptr;
  // x *= y.
  void (*multiply)(const MutableRows& x, const Rows& y, std::size_t width) = nullptr;
  // x *= factor.
  void (*scale)(const MutableRows& x, std::size_t width, float factor) = nullptr;
  // Like graph::Rotary. The heads of a row are consecutive and `width` columns wide. Cosines and sines are those of
  // graph::Turns at the row's position.
  void (*rope)(const MutableRows& x, std::size_t heads, std::size_t width, const float* cosines, const float* sines,
               const std::uint32_t* positions) = nullptr;
  // Like graph::Activation.
  void (*activate)(graph::ActivationFunction function, const MutableRows& x, std::size_t width) = nullptr;
  // y = layer norm of x like graph::LayerNorm; y may be x.
  void (*layer_norm)(const Rows& x, std::size_t width, const float* weight, const float* bias, float epsilon,
                     const MutableRows& y) = nullptr;
  // y = RMS norm of x like graph::RmsNorm, over each `part` numbers; y may be x. The operator's offset is included in
  // the weights.
  void (*rms_norm)(const Rows& x, std::size_t width, const float* weight, std::size_t part, float epsilon,
                   const MutableRows& y) = nullptr;
};

// Panels of a matrix with this many columns.
[[nodiscard]] constexpr std::size_t panel_count(std::size_t columns, const Kernels& kernels) {
  return (columns + kernels.panel_columns - 1) / kernels.panel_columns;
}

// All sets of this build, the fastest first. The last one runs on every processor of the platform.
[[nodiscard]] std::span<const Kernels* const> all_kernels();
// Whether this processor and the system support the set.
[[nodiscard]] bool can_run(const Kernels& kernels);

}  // namespace latebind::native
