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

// A matrix of K rows and any number of columns, in panels of Kernels::panel_columns columns, one after the other, each
// of Product::operand_words(K) words a column: panel[word][column], where a word has Product::group numbers that follow
// each other in the column. What is beyond the last column or the last number is zero.
struct Panels {
  const float* data = nullptr;
  std::size_t rows = 0;     // K
  std::size_t columns = 0;  // without the padding
};

// Numbers of a row or column that have a scale of their own in int8.
inline constexpr std::size_t kInt8Block = 96;
// Numbers in a word, as Product::group.
inline constexpr std::size_t kInt8Group = 4;

// Words that `width` numbers take.
constexpr std::size_t words_of(std::size_t width, std::size_t group) {
  return (width + group - 1) / group;
}
// And those after them: in int8 two for each block, in other precisions none.
constexpr std::size_t words_after(std::size_t width, std::size_t group) {
  return group == kInt8Group ? 2 * ((width + kInt8Block - 1) / kInt8Block) : 0;
}

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

// Attention of one text and one head: token t has its vectors at t * stride, `width` numbers long.
struct AttentionHead {
  const float* query = nullptr;
  const float* key = nullptr;
  const float* value = nullptr;
  float* out = nullptr;
  std::size_t stride = 0;      // of query, key and value
  std::size_t out_stride = 0;  // of out
  std::size_t tokens = 0;
  std::size_t width = 0;
  float scale = 1;
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
struct Product {
  // Numbers in a word: 1 in f32, 2 in bf16, kInt8Group in int8. 0: this set has no such product.
  std::size_t group = 0;

  // Rows of `width` numbers as what multiply takes, of operand_words(width) words each. Null in f32: as they are.
  void (*convert)(const Rows& x, std::size_t width, const MutableRows& y) = nullptr;
  // Columns of a panel-wide part [first_panel, first_panel + panel_count) of y = a · b + bias, where bias has b.columns
  // numbers, or is null. Each number of y is summed up in the same order, however many rows there are.
  void (*multiply)(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panel_count, const float* bias,
                   const MutableRows& y) = nullptr;
  // As graph::Attention, on numbers in f32. `scratch` has attention_scratch(tokens, width) numbers, aligned.
  void (*attend)(const AttentionHead& head, float* scratch) = nullptr;
  std::size_t (*attention_scratch)(std::size_t tokens, std::size_t width) = nullptr;

  // Of a row, and of each column of a panel.
  [[nodiscard]] constexpr std::size_t operand_words(std::size_t width) const {
    return words_of(width, group) + words_after(width, group);
  }
};

struct Kernels {
  // "avx2"
  std::string_view name;
  std::size_t panel_columns = 0;

  Product f32;
  Product bf16;
  Product int8;

  // Row r of x, `width` numbers: x += y.
  void (*add)(const MutableRows& x, const Rows& y, std::size_t width) = nullptr;
  // As graph::Activation.
  void (*activate)(graph::ActivationFunction function, const MutableRows& x, std::size_t width) = nullptr;
  // y = as graph::LayerNorm of x, which may be y.
  void (*layer_norm)(const Rows& x, std::size_t width, const float* weight, const float* bias, float epsilon,
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
