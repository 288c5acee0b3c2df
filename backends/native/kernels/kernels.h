// Kernels: the inner loops of `native`, once for each instruction set.
//
// Each set is made from kernels.inc.h in a file of its own, which is compiled for that instruction set and defines
// nothing but its table; what newer instructions add to a set is made from products.inc.h, in the same way. Code that
// other files share would otherwise carry newer instructions to older processors.
//
// Numbers are f32 and row-major; `stride` is the distance between rows in elements. What a product multiplies may be
// kept in fewer bits: a row is then one of words of 32 bits, each of which holds several numbers. Pointers need no
// alignment but for panels, which are aligned to kAlignment. No kernel allocates, throws or keeps state: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/graph/operators.h"

namespace latebind::native {

// Of panels and scratch, in bytes: a cache line, and the largest vector.
inline constexpr std::size_t kAlignment = 64;

// How the numbers that a product multiplies are kept.
enum class Format : std::uint8_t { kF32, kBF16, kF16, kInt8 };

// Numbers in a word.
constexpr std::size_t group_of(Format format) {
  return format == Format::kInt8 ? 4 : format == Format::kF32 ? 1 : 2;
}

// A matrix of K rows and any number of columns, in panels of Kernels::panel_columns columns, one after the other, each
// of Product::operand_words(K) words a column. A word has numbers that follow each other in the column; where each word
// of a column lies in the panel says place_of_word(). What is beyond the last column or the last number is zero.
struct Panels {
  const float* data = nullptr;
  std::size_t rows = 0;     // K
  std::size_t columns = 0;  // without the padding
  // The panel that is multiplied by afterwards, which is asked for in time; null: the one that follows in memory. Of no
  // meaning to the result.
  const float* next = nullptr;
};

// panel[word / side_by_side][column][word % side_by_side]
constexpr std::size_t place_of_word(std::size_t word, std::size_t column, std::size_t panel_columns,
                                    std::size_t side_by_side) {
  return (word / side_by_side * panel_columns + column) * side_by_side + word % side_by_side;
}

// Numbers of a row or column that have a scale of their own in int8.
inline constexpr std::size_t kInt8Block = 96;

// Words that `width` numbers take: whole groups of `side_by_side`.
constexpr std::size_t words_of(std::size_t width, Format format, std::size_t side_by_side) {
  const std::size_t numbers = group_of(format) * side_by_side;
  return (width + numbers - 1) / numbers * side_by_side;
}
// And those after them: in int8 two for each block, in f16 one.
constexpr std::size_t words_after(std::size_t width, Format format) {
  return format == Format::kInt8 ? 2 * ((width + kInt8Block - 1) / kInt8Block) : format == Format::kF16 ? 1 : 0;
}

// The powers of two by which numbers are multiplied to be kept in f16, and by which what comes of them, as the bits of
// an f32. The largest number, without its sign, has the bits `largest`; it becomes one from 8 to 16.
struct F16Scale {
  std::uint32_t factor = 0;
  std::uint32_t scale = 0;  // that of no number, where the largest is infinite or none
};
constexpr F16Scale f16_scale_of(std::uint32_t largest) {
  constexpr std::uint32_t kNone = 0x7FC00000;
  constexpr std::uint32_t kInfinite = 255;
  const std::uint32_t exponent = largest >> 23;
  // Below 2⁻¹²³ there is no such scale: numbers stay smaller.
  const std::uint32_t known = exponent < 4 ? 4 : exponent;
  return {.factor = (257 - known) << 23, .scale = exponent == kInfinite ? kNone : (known - 3) << 23};
}
// So many numbers of a row and a column are summed up in f16: in each half of a word, half as many products of numbers
// up to 16, which f16 can hold whatever they are.
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

// Attention of one text and one head: token t has its vectors at t times the stride, `width` numbers long.
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
  // The first ones, which are attended to.
  std::size_t keys = 0;
  std::size_t width = 0;
  float scale = 1;
  // Of distances from -farthest to farthest, nearer than which all are told apart: what is added to the scores, as a
  // multiple of the scale. May be null.
  const float* distance_bias = nullptr;
  std::size_t farthest = 0;
  // Tokens farther away than this are not attended to.
  std::size_t window = SIZE_MAX;
  // Nor are later ones.
  bool causal = false;
  // Asked every few rows of scores, whose number grows with the tokens: once it says so, what is left is not computed.
  // May be null.
  bool (*is_over)(void* context) = nullptr;
  void* context = nullptr;
};

// Matrix products in one precision.
//
// int8, by blocks of kInt8Block numbers of a row or column: a row's are bytes q, x = scale · q + shift, from 0 to 255
// or, where instructions take signed ones, from -128 to 127; after its words come the pairs of scale and shift. A
// column's are from -127 to 127, times a scale; after a panel's words come, for each block, the columns' scales and the
// sums of their bytes, as f32.
//
// f16: a row's and a column's numbers times a power of two (F16Scale), so that no product and no sum of them is beyond
// what f16 holds; after the words of a row, and of a panel's columns, come their scales, as f32.
struct Product {
  Format format = Format::kF32;
  // Words of a column that lie together in a panel: 1, or 2 where an instruction multiplies whole squares.
  std::size_t side_by_side = 1;

  // Rows of `width` numbers as what multiply takes, of operand_words(width) words each. Null in f32: as they are.
  void (*convert)(const Rows& x, std::size_t width, const MutableRows& y) = nullptr;
  // Columns of a panel-wide part [first_panel, first_panel + panel_count) of y = a · b + bias, where bias has b.columns
  // numbers, or is null. Each number of y is summed up in the same order, however many rows there are. Null: this set
  // has no such product.
  void (*multiply)(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panel_count, const float* bias,
                   const MutableRows& y) = nullptr;
  // As graph::Attention, on numbers in f32. `scratch` has attention_scratch(tokens, width) numbers, aligned.
  void (*attend)(const AttentionHead& head, float* scratch) = nullptr;
  std::size_t (*attention_scratch)(std::size_t tokens, std::size_t width) = nullptr;

  [[nodiscard]] constexpr bool is_there() const { return multiply != nullptr; }
  [[nodiscard]] constexpr std::size_t words(std::size_t width) const { return words_of(width, format, side_by_side); }
  // Of a row, and of each column of a panel.
  [[nodiscard]] constexpr std::size_t operand_words(std::size_t width) const {
    return words(width) + words_after(width, format);
  }
};

inline constexpr std::size_t kPanelColumnsMost = 32;

struct Kernels {
  // "avx2"
  std::string_view name;
  std::size_t panel_columns = 0;  // at most kPanelColumnsMost

  Product f32;
  Product bf16;
  Product f16;
  Product int8;

  // Row r of x, `width` numbers: x += y.
  void (*add)(const MutableRows& x, const Rows& y, std::size_t width) = nullptr;
  // x *= y.
  void (*multiply)(const MutableRows& x, const Rows& y, std::size_t width) = nullptr;
  // x *= factor.
  void (*scale)(const MutableRows& x, std::size_t width, float factor) = nullptr;
  // As graph::Rotary, the heads of each row, columns of `width` numbers, one after the other: by the cosines and sines
  // of graph::Turns at the row's position.
  void (*turn)(const MutableRows& x, std::size_t heads, std::size_t width, const float* cosines, const float* sines,
               const std::uint32_t* positions) = nullptr;
  // As graph::Activation.
  void (*activate)(graph::ActivationFunction function, const MutableRows& x, std::size_t width) = nullptr;
  // y = as graph::LayerNorm of x, which may be y.
  void (*layer_norm)(const Rows& x, std::size_t width, const float* weight, const float* bias, float epsilon,
                     const MutableRows& y) = nullptr;
  // y = as graph::RmsNorm of x, which may be y, over each `part` numbers; the offset is in the weights.
  void (*rms_norm)(const Rows& x, std::size_t width, const float* weight, std::size_t part, float epsilon,
                   const MutableRows& y) = nullptr;
};

// Panels of a matrix with so many columns.
[[nodiscard]] constexpr std::size_t panel_count(std::size_t columns, const Kernels& kernels) {
  return (columns + kernels.panel_columns - 1) / kernels.panel_columns;
}

// Every set of this build, the fastest first; the last one runs on every processor of the platform.
[[nodiscard]] std::span<const Kernels* const> all_kernels();
// Whether this processor, and the system, allow it.
[[nodiscard]] bool can_run(const Kernels& kernels);

}  // namespace latebind::native
