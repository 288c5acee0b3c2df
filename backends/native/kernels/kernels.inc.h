// The kernels, written once for every instruction set with Highway's static dispatch: whoever includes this is compiled
// for one. Defines make_kernels(name), in an unnamed namespace like all the rest.
//
// Matrix products hold a tile of y in registers: kTileRows rows of kVectors vectors. For each k, the vectors of the
// panel's row are loaded once and multiplied by one number of each row of a. See docs/native.md.

// What these include must not be compiled twice either, so nothing here may come from a header with inline functions
// of its own, but for Highway, which names its functions by instruction set.
#define HWY_COMPILE_ONLY_STATIC 1
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <utility>

#include "backends/native/kernels/kernels.h"

// What Highway's own functions are compiled with, which are to be inlined here.
HWY_BEFORE_NAMESPACE();
namespace latebind::native {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
constexpr Tag kTag;

constexpr std::size_t kLanes = hn::MaxLanes(Tag());
// By the number of vector registers: 32 on AVX-512 and aarch64, 16 elsewhere.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr std::size_t kVectors = kLanes >= 16 ? 2 : 4;
constexpr std::size_t kTileRows = kLanes >= 16 ? 14 : 6;
#else
constexpr std::size_t kVectors = 2;
constexpr std::size_t kTileRows = 6;
#endif
constexpr std::size_t kPanelColumns = kVectors * kLanes;

#define LATEBIND_INLINE inline __attribute__((always_inline))
#define LATEBIND_UNROLL _Pragma("GCC unroll 16")

// Not std::min: it might be compiled out of line, with these instructions, for the files of others.
constexpr std::size_t smaller(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}

// Sums of a tile, and where they go: kRows rows, `columns` of a panel's.
template <std::size_t kRows>
void multiply_tile(const float* a, std::size_t a_stride, const float* panel, std::size_t k_count, const float* bias,
                   float* y, std::size_t y_stride, std::size_t columns) {
  Vector sums[kRows][kVectors];
  LATEBIND_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    LATEBIND_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v)
      sums[r][v] = hn::Zero(kTag);
  }
  for (std::size_t k = 0; k < k_count; ++k, ++a, panel += kPanelColumns) {
    Vector b[kVectors];
    LATEBIND_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v)
      b[v] = hn::Load(kTag, panel + v * kLanes);
    LATEBIND_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector x = hn::Set(kTag, a[r * a_stride]);
      LATEBIND_UNROLL
      for (std::size_t v = 0; v < kVectors; ++v)
        sums[r][v] = hn::MulAdd(x, b[v], sums[r][v]);
    }
  }
  LATEBIND_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t first = v * kLanes;
    if (first >= columns) break;
    const std::size_t count = smaller(columns - first, kLanes);
    if (count == kLanes) {
      const Vector add = bias != nullptr ? hn::LoadU(kTag, bias + first) : hn::Zero(kTag);
      LATEBIND_UNROLL
      for (std::size_t r = 0; r < kRows; ++r)
        hn::StoreU(hn::Add(sums[r][v], add), kTag, y + r * y_stride + first);
    } else {
      alignas(kAlignment) float lanes[kLanes];
      LATEBIND_UNROLL
      for (std::size_t r = 0; r < kRows; ++r) {
        hn::Store(sums[r][v], kTag, lanes);
        for (std::size_t i = 0; i < count; ++i)
          y[r * y_stride + first + i] = lanes[i] + (bias != nullptr ? bias[first + i] : 0.0F);
      }
    }
  }
}

struct TileTable {
  decltype(&multiply_tile<1>) of[kTileRows + 1];
};
template <std::size_t... kLess>
constexpr TileTable make_tile_table(std::index_sequence<kLess...> /*rows, less one*/) {
  return {{nullptr, multiply_tile<kLess + 1>...}};
}
// By the number of rows, from 1 on.
constexpr TileTable kTiles = make_tile_table(std::make_index_sequence<kTileRows>());

void multiply(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panels, const float* bias,
              const MutableRows& y) {
  // Tiles of as equal heights as possible.
  const std::size_t tiles = (a.count + kTileRows - 1) / kTileRows;
  for (std::size_t p = first_panel; p < first_panel + panels; ++p) {
    const std::size_t column = p * kPanelColumns;
    const float* const panel = b.data + p * kPanelColumns * b.rows;
    std::size_t row = 0;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const std::size_t rows = (a.count - row) / (tiles - tile);
      kTiles.of[rows](a.data + row * a.stride, a.stride, panel, b.rows, bias != nullptr ? bias + column : nullptr,
                      y.data + row * y.stride + column, y.stride, smaller(b.columns - column, kPanelColumns));
      row += rows;
    }
  }
}

// Calls f(position, vector) for `width` numbers and stores what it returns; the last vector may be a part of one, and
// what is beyond its end is `fill`.
template <class Function>
LATEBIND_INLINE void for_each_vector(float* x, std::size_t width, float fill, const Function& function) {
  std::size_t i = 0;
  for (; i + kLanes <= width; i += kLanes)
    hn::StoreU(function(i, hn::LoadU(kTag, x + i)), kTag, x + i);
  if (i == width) return;
  alignas(kAlignment) float lanes[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    lanes[lane] = i + lane < width ? x[i + lane] : fill;
  hn::Store(function(i, hn::Load(kTag, lanes)), kTag, lanes);
  for (std::size_t lane = 0; i + lane < width; ++lane)
    x[i + lane] = lanes[lane];
}

// `width` numbers from `from` on, at the position of a vector; zero beyond the end.
LATEBIND_INLINE Vector load_part(const float* from, std::size_t position, std::size_t width) {
  if (position + kLanes <= width) return hn::LoadU(kTag, from + position);
  alignas(kAlignment) float lanes[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    lanes[lane] = position + lane < width ? from[position + lane] : 0.0F;
  return hn::Load(kTag, lanes);
}

void add(const MutableRows& x, const Rows& y, std::size_t width) {
  for (std::size_t r = 0; r < x.count; ++r) {
    const float* const from = y.data + r * y.stride;
    for_each_vector(x.data + r * x.stride, width, 0.0F,
                    [&](std::size_t i, Vector value) { return hn::Add(value, load_part(from, i, width)); });
  }
}

// Half of erf(x / √2) for |x| ≤ 5.9, beyond which it is ±1/2 in f32; coefficients by fit_erf.py 5 5.
LATEBIND_INLINE Vector half_erf(Vector x) {
  constexpr float kEnd = 5.9F;
  constexpr float kNumerator[] = {2.060825111e-08F, 6.325447430e-06F, 1.848641550e-04F,
                                  4.775172565e-03F, 3.557249531e-02F, 3.989422619e-01F};
  constexpr float kDenominator[] = {1.132496891e-06F, 7.802734763e-05F, 1.977130538e-03F,
                                    2.961007692e-02F, 2.558330297e-01F, 1.0F};
  x = hn::Min(hn::Max(x, hn::Set(kTag, -kEnd)), hn::Set(kTag, kEnd));
  const Vector square = hn::Mul(x, x);
  Vector numerator = hn::Set(kTag, kNumerator[0]);
  LATEBIND_UNROLL
  for (std::size_t i = 1; i < sizeof(kNumerator) / sizeof(float); ++i)
    numerator = hn::MulAdd(numerator, square, hn::Set(kTag, kNumerator[i]));
  Vector denominator = hn::Set(kTag, kDenominator[0]);
  LATEBIND_UNROLL
  for (std::size_t i = 1; i < sizeof(kDenominator) / sizeof(float); ++i)
    denominator = hn::MulAdd(denominator, square, hn::Set(kTag, kDenominator[i]));
  return hn::Mul(x, hn::Div(numerator, denominator));
}

void activate(graph::ActivationFunction function, const MutableRows& x, std::size_t width) {
  for (std::size_t r = 0; r < x.count; ++r) {
    float* const row = x.data + r * x.stride;
    switch (function) {
      case graph::ActivationFunction::kRelu:
        for_each_vector(row, width, 0.0F, [](std::size_t, Vector value) { return hn::Max(value, hn::Zero(kTag)); });
        break;
      case graph::ActivationFunction::kGeluErf:
        for_each_vector(row, width, 0.0F, [](std::size_t, Vector value) {
          return hn::MulAdd(value, half_erf(value), hn::Mul(value, hn::Set(kTag, 0.5F)));
        });
        break;
      case graph::ActivationFunction::kGeluTanh:
        // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u))
        for_each_vector(row, width, 0.0F, [](std::size_t, Vector value) {
          constexpr float kTwiceRootOfTwoByPi = 1.5957691216057308F;
          const Vector cubic = hn::Mul(hn::Mul(value, value), hn::Mul(value, hn::Set(kTag, 0.044715F)));
          const Vector inner = hn::Mul(hn::Set(kTag, -kTwiceRootOfTwoByPi), hn::Add(value, cubic));
          const Vector bounded = hn::Min(inner, hn::Set(kTag, 80.0F));
          return hn::Div(value, hn::Add(hn::Set(kTag, 1.0F), hn::Exp(kTag, bounded)));
        });
        break;
    }
  }
}

void layer_norm(const Rows& x, std::size_t width, const float* weight, const float* bias, float epsilon,
                const MutableRows& y) {
  const float part = 1.0F / static_cast<float>(width);
  for (std::size_t r = 0; r < x.count; ++r) {
    const float* const from = x.data + r * x.stride;
    float* const to = y.data + r * y.stride;
    Vector sum = hn::Zero(kTag);
    for (std::size_t i = 0; i < width; i += kLanes)
      sum = hn::Add(sum, load_part(from, i, width));
    const Vector mean = hn::Mul(hn::SumOfLanes(kTag, sum), hn::Set(kTag, part));
    Vector squares = hn::Zero(kTag);
    std::size_t i = 0;
    for (; i + kLanes <= width; i += kLanes) {
      const Vector distance = hn::Sub(hn::LoadU(kTag, from + i), mean);
      squares = hn::MulAdd(distance, distance, squares);
    }
    float total = hn::GetLane(hn::SumOfLanes(kTag, squares));
    const float middle = hn::GetLane(mean);
    for (; i < width; ++i)
      total += (from[i] - middle) * (from[i] - middle);
    const Vector scale = hn::Div(hn::Set(kTag, 1.0F), hn::Sqrt(hn::Set(kTag, total * part + epsilon)));
    if (to != from) {
      for (i = 0; i < width; ++i)
        to[i] = from[i];
    }
    for_each_vector(to, width, 0.0F, [&](std::size_t at, Vector value) {
      const Vector normal = hn::Mul(hn::Sub(value, mean), scale);
      return hn::MulAdd(normal, load_part(weight, at, width), load_part(bias, at, width));
    });
  }
}

constexpr std::size_t up_to_panel(std::size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

// Scores of this many queries are kept at a time: a multiple of a tile's rows.
constexpr std::size_t kScoreRows = 4 * kTileRows;

// Of the keys as panels, the values as panels, and the scores.
std::size_t attention_scratch(std::size_t tokens, std::size_t width) {
  return up_to_panel(tokens) * width + up_to_panel(width) * tokens + kScoreRows * up_to_panel(tokens);
}

// exp(scale · (x - max x)) of each row's `count` numbers, and 1 / their sum.
LATEBIND_INLINE float soften(float* row, std::size_t count, float scale) {
  constexpr float kLeast = -3.0e38F;
  Vector top = hn::Set(kTag, kLeast);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    top = hn::Max(top, hn::LoadU(kTag, row + i));
  float largest = hn::GetLane(hn::MaxOfLanes(kTag, top));
  for (; i < count; ++i)
    largest = row[i] > largest ? row[i] : largest;
  const Vector factor = hn::Set(kTag, scale);
  const Vector shift = hn::Set(kTag, -largest * scale);
  // What is below this is as good as 0, and Exp is not made for it.
  const Vector lowest = hn::Set(kTag, -87.0F);
  Vector sum = hn::Zero(kTag);
  for (i = 0; i + kLanes <= count; i += kLanes) {
    const Vector power = hn::Exp(kTag, hn::Max(hn::MulAdd(hn::LoadU(kTag, row + i), factor, shift), lowest));
    sum = hn::Add(sum, power);
    hn::StoreU(power, kTag, row + i);
  }
  float total = hn::GetLane(hn::SumOfLanes(kTag, sum));
  if (i < count) {
    alignas(kAlignment) float lanes[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = i + lane < count ? row[i + lane] : largest;
    hn::Store(hn::Exp(kTag, hn::Max(hn::MulAdd(hn::Load(kTag, lanes), factor, shift), lowest)), kTag, lanes);
    for (std::size_t lane = 0; i + lane < count; ++lane) {
      row[i + lane] = lanes[lane];
      total += lanes[lane];
    }
  }
  return 1.0F / total;
}

void attend(const AttentionHead& head, float* scratch) {
  const std::size_t tokens = head.tokens;
  const std::size_t width = head.width;
  // Keys, transposed: panel[dimension][token].
  float* const keys = scratch;
  const std::size_t padded_tokens = up_to_panel(tokens);
  for (std::size_t first = 0; first < padded_tokens; first += kPanelColumns) {
    float* const panel = keys + first * width;
    const std::size_t here = smaller(tokens - first, kPanelColumns);
    for (std::size_t t = 0; t < here; ++t) {
      const float* const key = head.key + (first + t) * head.stride;
      for (std::size_t d = 0; d < width; ++d)
        panel[d * kPanelColumns + t] = key[d];
    }
    for (std::size_t d = 0; here < kPanelColumns && d < width; ++d) {
      for (std::size_t t = here; t < kPanelColumns; ++t)
        panel[d * kPanelColumns + t] = 0.0F;
    }
  }
  // Values: panel[token][dimension].
  float* const values = keys + padded_tokens * width;
  const std::size_t padded_width = up_to_panel(width);
  for (std::size_t first = 0; first < padded_width; first += kPanelColumns) {
    float* const panel = values + first * tokens;
    const std::size_t here = smaller(width - first, kPanelColumns);
    for (std::size_t t = 0; t < tokens; ++t) {
      const float* const value = head.value + t * head.stride + first;
      for (std::size_t d = 0; d < kPanelColumns; ++d)
        panel[t * kPanelColumns + d] = d < here ? value[d] : 0.0F;
    }
  }
  float* const scores = values + padded_width * tokens;
  const Panels key_panels{keys, width, tokens};
  const Panels value_panels{values, tokens, width};
  for (std::size_t first = 0; first < tokens; first += kScoreRows) {
    const std::size_t rows = smaller(kScoreRows, tokens - first);
    multiply({head.query + first * head.stride, rows, head.stride}, key_panels, 0, padded_tokens / kPanelColumns,
             nullptr, {scores, rows, padded_tokens});
    float inverse[kScoreRows];
    for (std::size_t r = 0; r < rows; ++r)
      inverse[r] = soften(scores + r * padded_tokens, tokens, head.scale);
    float* const out = head.out + first * head.out_stride;
    multiply({scores, rows, padded_tokens}, value_panels, 0, padded_width / kPanelColumns, nullptr,
             {out, rows, head.out_stride});
    for (std::size_t r = 0; r < rows; ++r) {
      const Vector factor = hn::Set(kTag, inverse[r]);
      for_each_vector(out + r * head.out_stride, width, 0.0F,
                      [&](std::size_t, Vector value) { return hn::Mul(value, factor); });
    }
  }
}

constexpr Kernels make_kernels(std::string_view name) {
  return {.name = name,
          .panel_columns = kPanelColumns,
          .multiply = multiply,
          .add = add,
          .activate = activate,
          .layer_norm = layer_norm,
          .attend = attend,
          .attention_scratch = attention_scratch};
}

}  // namespace
}  // namespace latebind::native
HWY_AFTER_NAMESPACE();
