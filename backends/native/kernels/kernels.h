// Kernels: the inner loops of `native`, once for each instruction set.
//
// Each set is made from kernels.inc.h in a file of its own, which is compiled for that instruction set and defines
// nothing but its table: code that other files share would otherwise carry newer instructions to older processors.
//
// Everything is f32 and row-major; `stride` is the distance between rows in elements. Pointers need no alignment
// but for panels, which are aligned to kAlignment. No kernel allocates, throws or keeps state: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/graph/operators.h"

namespace latebind::native {

// Of panels and scratch, in bytes: a cache line, and the largest vector.
inline constexpr std::size_t kAlignment = 64;

// A matrix of K rows and any number of columns, in panels of Kernels::panel_columns columns, one after the other:
// panel[k][column]. What is beyond the last column is zero.
struct Panels {
  const float* data = nullptr;
  std::size_t rows = 0;     // K
  std::size_t columns = 0;  // without the padding
};

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
};

struct Kernels {
  // "avx2"
  std::string_view name;
  std::size_t panel_columns = 0;

  // Columns of a panel-wide part [first_panel, first_panel + panel_count) of y = a · b + bias, where bias has b.columns
  // numbers, or is null. Each number of y is summed up in the same order, however many rows there are.
  void (*multiply)(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panel_count, const float* bias,
                   const MutableRows& y) = nullptr;

  // Row r of x, `width` numbers: x += y.
  void (*add)(const MutableRows& x, const Rows& y, std::size_t width) = nullptr;
  // As graph::Activation.
  void (*activate)(graph::ActivationFunction function, const MutableRows& x, std::size_t width) = nullptr;
  // y = as graph::LayerNorm of x, which may be y.
  void (*layer_norm)(const Rows& x, std::size_t width, const float* weight, const float* bias, float epsilon,
                     const MutableRows& y) = nullptr;
  // As graph::Attention. `scratch` has attention_scratch(tokens, width) numbers, aligned.
  void (*attend)(const AttentionHead& head, float* scratch) = nullptr;
  std::size_t (*attention_scratch)(std::size_t tokens, std::size_t width) = nullptr;
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
