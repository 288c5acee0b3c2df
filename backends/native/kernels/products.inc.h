// Matrix products and attention, written once for every instruction set with Highway's static dispatch: whoever
// includes this is compiled for one. Defines kF32Product, and of kBF16Product and kInt8Product what the instruction set
// has, in an unnamed namespace like all the rest.
//
// Matrix products hold a tile of y in registers: kTileRows rows of kVectors vectors. For each word of a row, the
// vectors of the panel's row are loaded once and multiplied by one word of each row of a. See docs/native.md.

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

#define LATEBIND_INLINE_LAMBDA __attribute__((always_inline))
#define LATEBIND_INLINE inline LATEBIND_INLINE_LAMBDA
#define LATEBIND_UNROLL _Pragma("GCC unroll 16")

// Not std::min: it might be compiled out of line, with these instructions, for the files of others.
constexpr std::size_t smaller(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}

using IntTag = hn::RebindToSigned<Tag>;
using IntVector = hn::Vec<IntTag>;

// The arithmetic of a product: what one word of a row and one of each column add to the sums.
struct F32 {
  using Sum = Vector;
  static constexpr std::size_t kGroup = 1;
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) { sum = hn::MulAdd(a, b, sum); }
};

#if defined(__AVX512BF16__)
#define LATEBIND_HAS_BF16 1
struct BF16 {
  using Sum = Vector;
  static constexpr std::size_t kGroup = 2;
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    sum.raw = _mm512_dpbf16_ps(sum.raw, reinterpret_cast<__m512bh>(a.raw), reinterpret_cast<__m512bh>(b.raw));
  }
  // Two vectors of numbers that follow each other.
  static LATEBIND_INLINE Vector join(Vector first, Vector second) {
    return Vector{reinterpret_cast<__m512>(_mm512_cvtne2ps_pbh(second.raw, first.raw))};
  }
  // Words of a number of each.
  static LATEBIND_INLINE Vector interleave(Vector low, Vector high) {
    const auto bits = [](Vector x) {
      return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x.raw)));
    };
    return Vector{_mm512_castsi512_ps(_mm512_or_si512(bits(low), _mm512_slli_epi32(bits(high), 16)))};
  }
};
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define LATEBIND_HAS_BF16 1
struct BF16 {
  using Sum = Vector;
  static constexpr std::size_t kGroup = 2;
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    sum.raw = vbfdotq_f32(sum.raw, vreinterpretq_bf16_f32(a.raw), vreinterpretq_bf16_f32(b.raw));
  }
  static LATEBIND_INLINE Vector join(Vector first, Vector second) {
    return Vector{vreinterpretq_f32_bf16(vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(first.raw), second.raw))};
  }
  static LATEBIND_INLINE Vector interleave(Vector low, Vector high) {
    const auto bits = [](Vector x) { return vreinterpret_u16_bf16(vcvt_bf16_f32(x.raw)); };
    return Vector{vreinterpretq_f32_u32(vorrq_u32(vmovl_u16(bits(low)), vshll_n_u16(bits(high), 16)))};
  }
};
#endif

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define LATEBIND_HAS_INT8 1
struct Int8 {
  using Sum = IntVector;
  static constexpr std::size_t kGroup = kInt8Group;
  // Of a row's bytes, which are unsigned.
  static constexpr int kLeastByte = 0;
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    // GCC 12 keeps the sums of the intrinsic in memory.
#if defined(__AVX512VNNI__)
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
#else
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.raw) : "x"(a.raw), "x"(b.raw));
#endif
  }
};
#elif defined(__ARM_FEATURE_DOTPROD)
#define LATEBIND_HAS_INT8 1
struct Int8 {
  using Sum = IntVector;
  static constexpr std::size_t kGroup = kInt8Group;
  static constexpr int kLeastByte = -128;
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    sum.raw = vdotq_s32(sum.raw, vreinterpretq_s8_f32(a.raw), vreinterpretq_s8_f32(b.raw));
  }
};
#endif

// Sums of a tile: so many words of each of kRows rows times a panel.
template <class Arithmetic, std::size_t kRows>
LATEBIND_INLINE void sum_up(const float* a, std::size_t a_stride, const float* panel, std::size_t words,
                            typename Arithmetic::Sum (&sums)[kRows][kVectors]) {
  LATEBIND_UNROLL
  for (std::size_t r = 0; r < kRows; ++r) {
    LATEBIND_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v)
      sums[r][v] = hn::Zero(hn::DFromV<typename Arithmetic::Sum>());
  }
  for (std::size_t word = 0; word < words; ++word, ++a, panel += kPanelColumns) {
    Vector b[kVectors];
    LATEBIND_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v)
      b[v] = hn::Load(kTag, panel + v * kLanes);
    LATEBIND_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      // A copy: a word is a float for those that compute in f32 alone.
      float bits = 0;
      __builtin_memcpy(&bits, a + r * a_stride, sizeof bits);
      const Vector x = hn::Set(kTag, bits);
      LATEBIND_UNROLL
      for (std::size_t v = 0; v < kVectors; ++v)
        Arithmetic::step(sums[r][v], x, b[v]);
    }
  }
}

// Where a tile goes: `columns` of a panel's.
struct Place {
  const float* bias = nullptr;  // may be null
  float* y = nullptr;
  std::size_t stride = 0;
  std::size_t columns = 0;
};

// y = sum(row, vector, base) for kRows rows, where base is the bias, or what is in y.
template <std::size_t kRows, class Function>
LATEBIND_INLINE void put(const Place& place, bool adds, const Function& sum) {
  LATEBIND_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t first = v * kLanes;
    if (first >= place.columns) break;
    const std::size_t count = smaller(place.columns - first, kLanes);
    const float* const bias = place.bias != nullptr ? place.bias + first : nullptr;
    if (count == kLanes) {
      const Vector start = bias != nullptr ? hn::LoadU(kTag, bias) : hn::Zero(kTag);
      LATEBIND_UNROLL
      for (std::size_t r = 0; r < kRows; ++r) {
        float* const y = place.y + r * place.stride + first;
        hn::StoreU(sum(r, v, adds ? hn::LoadU(kTag, y) : start), kTag, y);
      }
    } else {
      alignas(kAlignment) float lanes[kLanes];
      LATEBIND_UNROLL
      for (std::size_t r = 0; r < kRows; ++r) {
        float* const y = place.y + r * place.stride + first;
        for (std::size_t i = 0; i < kLanes; ++i)
          lanes[i] = i >= count ? 0.0F : adds ? y[i] : bias != nullptr ? bias[i] : 0.0F;
        hn::Store(sum(r, v, hn::Load(kTag, lanes)), kTag, lanes);
        for (std::size_t i = 0; i < count; ++i)
          y[i] = lanes[i];
      }
    }
  }
}

// So many rows of a panel-wide part of y = a · b + bias, where b has `rows` rows.
template <class Arithmetic, std::size_t kRows>
void multiply_tile(const float* a, std::size_t a_stride, const float* panel, std::size_t rows, const Place& place) {
  constexpr std::size_t kGroup = Arithmetic::kGroup;
  const std::size_t words = words_of(rows, kGroup);
  typename Arithmetic::Sum sums[kRows][kVectors];
  if constexpr (kGroup != kInt8Group) {
    sum_up<Arithmetic, kRows>(a, a_stride, panel, words, sums);
    put<kRows>(place, false, [&](std::size_t r, std::size_t v, Vector base) LATEBIND_INLINE_LAMBDA {
      return hn::Add(sums[r][v], base);
    });
  } else {
    constexpr std::size_t kBlockWords = kInt8Block / kGroup;
    const float* scales = panel + words * kPanelColumns;
    const float* block = a + words;
    for (std::size_t first = 0; first < words; first += kBlockWords, scales += 2 * kPanelColumns, block += 2) {
      sum_up<Arithmetic, kRows>(a + first, a_stride, panel + first * kPanelColumns, smaller(words - first, kBlockWords),
                                sums);
      put<kRows>(place, first > 0, [&](std::size_t r, std::size_t v, Vector base) LATEBIND_INLINE_LAMBDA {
        const Vector products = hn::Mul(hn::ConvertTo(kTag, sums[r][v]), hn::Set(kTag, block[r * a_stride]));
        const Vector least = hn::Set(kTag, block[r * a_stride + 1]);
        const Vector sum = hn::MulAdd(least, hn::Load(kTag, scales + kPanelColumns + v * kLanes), products);
        return hn::MulAdd(sum, hn::Load(kTag, scales + v * kLanes), base);
      });
    }
  }
}

template <class Arithmetic>
struct TileTable {
  decltype(&multiply_tile<Arithmetic, 1>) of[kTileRows + 1];
};
template <class Arithmetic, std::size_t... kLess>
constexpr TileTable<Arithmetic> make_tile_table(std::index_sequence<kLess...> /*rows, less one*/) {
  return {{nullptr, multiply_tile<Arithmetic, kLess + 1>...}};
}
// By the number of rows, from 1 on.
template <class Arithmetic>
constexpr TileTable<Arithmetic> kTiles = make_tile_table<Arithmetic>(std::make_index_sequence<kTileRows>());

template <class Arithmetic>
void multiply(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panels, const float* bias,
              const MutableRows& y) {
  // Tiles of as equal heights as possible.
  const std::size_t tiles = (a.count + kTileRows - 1) / kTileRows;
  const std::size_t panel_rows = words_of(b.rows, Arithmetic::kGroup) + words_after(b.rows, Arithmetic::kGroup);
  for (std::size_t p = first_panel; p < first_panel + panels; ++p) {
    const std::size_t column = p * kPanelColumns;
    const float* const panel = b.data + p * kPanelColumns * panel_rows;
    std::size_t row = 0;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const std::size_t rows = (a.count - row) / (tiles - tile);
      kTiles<Arithmetic>.of[rows](a.data + row * a.stride, a.stride, panel, b.rows,
                                  {.bias = bias != nullptr ? bias + column : nullptr,
                                   .y = y.data + row * y.stride + column,
                                   .stride = y.stride,
                                   .columns = smaller(b.columns - column, kPanelColumns)});
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

// A vector of the `width` numbers at `from`, at this position; `fill` beyond the end.
LATEBIND_INLINE Vector load_part(const float* from, std::size_t position, std::size_t width, float fill = 0.0F) {
  if (position + kLanes <= width) return hn::LoadU(kTag, from + position);
  alignas(kAlignment) float lanes[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    lanes[lane] = position + lane < width ? from[position + lane] : fill;
  return hn::Load(kTag, lanes);
}

constexpr std::size_t up_to_panel(std::size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

// Scores of this many queries are kept at a time: a multiple of a tile's rows.
constexpr std::size_t kScoreRows = 4 * kTileRows;

// exp(scale · (x - max x)) of each row's `count` numbers, and 1 / their sum: no number where one of them is none or not
// finite, which maxima do not tell.
LATEBIND_INLINE float soften(float* row, std::size_t count, float scale) {
  constexpr float kLeast = -3.0e38F;
  Vector top = hn::Set(kTag, kLeast);
  Vector nothing = hn::Zero(kTag);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vector x = hn::LoadU(kTag, row + i);
    top = hn::Max(top, x);
    nothing = hn::MulAdd(x, hn::Zero(kTag), nothing);
  }
  float largest = hn::GetLane(hn::MaxOfLanes(kTag, top));
  float none = hn::GetLane(hn::SumOfLanes(kTag, nothing));
  for (; i < count; ++i) {
    largest = row[i] > largest ? row[i] : largest;
    none += row[i] * 0.0F;
  }
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
    const Vector last = load_part(row, i, count, largest);
    hn::Store(hn::Exp(kTag, hn::Max(hn::MulAdd(last, factor, shift), lowest)), kTag, lanes);
    for (std::size_t lane = 0; i + lane < count; ++lane) {
      row[i + lane] = lanes[lane];
      total += lanes[lane];
    }
  }
  return 1.0F / total + none;
}

#if defined(LATEBIND_HAS_BF16)
// Words of a vector at this position of `count`.
LATEBIND_INLINE void store_part(Vector words, float* to, std::size_t position, std::size_t count) {
  if (position + kLanes <= count) {
    hn::StoreU(words, kTag, to + position);
    return;
  }
  alignas(kAlignment) float lanes[kLanes];
  hn::Store(words, kTag, lanes);
  __builtin_memcpy(to + position, lanes, (count - position) * sizeof(float));
}

// The words of two of `width` numbers, from the position of a word on.
LATEBIND_INLINE Vector load_pairs(const float* from, std::size_t position, std::size_t width) {
  return BF16::join(load_part(from, 2 * position, width), load_part(from, 2 * position + kLanes, width));
}

// `width` numbers as words of two; `to` may be `from`.
LATEBIND_INLINE void convert_row(const float* from, std::size_t width, float* to) {
  const std::size_t words = words_of(width, BF16::kGroup);
  for (std::size_t i = 0; i < words; i += kLanes)
    store_part(load_pairs(from, i, width), to, i, words);
}

void convert_to_bf16(const Rows& x, std::size_t width, const MutableRows& y) {
  for (std::size_t r = 0; r < x.count; ++r)
    convert_row(x.data + r * x.stride, width, y.data + r * y.stride);
}
#endif

#if defined(LATEBIND_HAS_INT8)
// A block whose numbers differ by less than this is as good as constant; its scale must not be 0.
constexpr float kLeastSpan = 1e-30F;

void convert_to_int8(const Rows& x, std::size_t width, const MutableRows& y) {
  const std::size_t words = words_of(width, Int8::kGroup);
  for (std::size_t r = 0; r < x.count; ++r) {
    float* const row = y.data + r * y.stride;
    auto* const bytes = reinterpret_cast<unsigned char*>(row);
    float* blocks = row + words;
    for (std::size_t first = 0; first < width; first += kInt8Block, blocks += 2) {
      const float* const from = x.data + r * x.stride + first;
      const std::size_t count = smaller(width - first, kInt8Block);
      Vector low = hn::Set(kTag, from[0]);
      Vector high = low;
      // NaN where a number is not finite: comparisons would lose it.
      Vector nothing = hn::Zero(kTag);
      for (std::size_t i = 0; i < count; i += kLanes) {
        const Vector value = load_part(from, i, count, from[0]);
        low = hn::Min(low, value);
        high = hn::Max(high, value);
        nothing = hn::MulAdd(value, hn::Zero(kTag), nothing);
      }
      const float least = hn::GetLane(hn::MinOfLanes(kTag, low));
      const float span = hn::GetLane(hn::MaxOfLanes(kTag, high)) - least;
      const float scale = (span > kLeastSpan ? span : kLeastSpan) * (1.0F / 255.0F);
      const Vector factor = hn::Set(kTag, 1.0F / scale);
      const Vector shift = hn::Set(kTag, least);
      const hn::Rebind<unsigned char, Tag> byte_tag;
      const auto flipped = hn::Set(byte_tag, static_cast<unsigned char>(-Int8::kLeastByte));
      for (std::size_t i = 0; i < count; i += kLanes) {
        const Vector steps = hn::Mul(hn::Sub(load_part(from, i, count), shift), factor);
        alignas(16) unsigned char part[kLanes];
        hn::StoreU(hn::Xor(hn::DemoteTo(byte_tag, hn::NearestInt(steps)), flipped), byte_tag, part);
        const std::size_t here = smaller(words * Int8::kGroup - first - i, kLanes);
        __builtin_memcpy(bytes + first + i, part, here);
      }
      blocks[0] = scale + hn::GetLane(hn::SumOfLanes(kTag, nothing));
      blocks[1] = least - static_cast<float>(Int8::kLeastByte) * scale;
    }
  }
}
#endif

// What attention computes with, in f32: rows as they are, panels of keys and values.
struct F32Attention {
  using Arithmetic = F32;
  static constexpr std::size_t kGroup = Arithmetic::kGroup;
  // Rows of `width` numbers as a product takes them, made in `scratch` if they have to be.
  static LATEBIND_INLINE Rows rows_of(const Rows& x, std::size_t /*width*/, float* /*scratch*/) { return x; }
  static LATEBIND_INLINE void column(const float* from, std::size_t width, float* to) {
    for (std::size_t d = 0; d < width; ++d)
      to[d * kPanelColumns] = from[d];
  }
  // A vector of each of kGroup rows that follow each other.
  static LATEBIND_INLINE Vector words(const Vector (&rows)[kGroup]) { return rows[0]; }
};

#if defined(LATEBIND_HAS_BF16)
struct BF16Attention {
  using Arithmetic = BF16;
  static constexpr std::size_t kGroup = Arithmetic::kGroup;
  static LATEBIND_INLINE Rows rows_of(const Rows& x, std::size_t width, float* scratch) {
    const std::size_t stride = words_of(width, kGroup);
    for (std::size_t r = 0; r < x.count; ++r)
      convert_row(x.data + r * x.stride, width, scratch + r * stride);
    return {scratch, x.count, stride};
  }
  static LATEBIND_INLINE void column(const float* from, std::size_t width, float* to) {
    const std::size_t words = words_of(width, kGroup);
    for (std::size_t i = 0; i < words; i += kLanes) {
      alignas(kAlignment) float lanes[kLanes];
      hn::Store(load_pairs(from, i, width), kTag, lanes);
      for (std::size_t lane = 0; lane < smaller(words - i, kLanes); ++lane)
        __builtin_memcpy(to + (i + lane) * kPanelColumns, lanes + lane, sizeof(float));
    }
  }
  static LATEBIND_INLINE Vector words(const Vector (&rows)[kGroup]) { return BF16::interleave(rows[0], rows[1]); }
};
#endif

// Of the keys as panels, the values as panels, the queries and the scores.
template <class Attention>
std::size_t attention_scratch(std::size_t tokens, std::size_t width) {
  constexpr std::size_t kGroup = Attention::kGroup;
  return up_to_panel(tokens) * words_of(width, kGroup) + up_to_panel(width) * words_of(tokens, kGroup) +
         (kGroup > 1 ? up_to_panel(kScoreRows * words_of(width, kGroup)) : 0) + kScoreRows * up_to_panel(tokens);
}

template <class Attention>
void attend(const AttentionHead& head, float* scratch) {
  using Arithmetic = typename Attention::Arithmetic;
  constexpr std::size_t kGroup = Attention::kGroup;
  const std::size_t tokens = head.tokens;
  const std::size_t width = head.width;
  // Keys, transposed: panel[dimension][token].
  float* const keys = scratch;
  const std::size_t key_words = words_of(width, kGroup);
  const std::size_t padded_tokens = up_to_panel(tokens);
  for (std::size_t first = 0; first < padded_tokens; first += kPanelColumns) {
    float* const panel = keys + first * key_words;
    const std::size_t here = smaller(tokens - first, kPanelColumns);
    for (std::size_t t = 0; t < here; ++t)
      Attention::column(head.key + (first + t) * head.stride, width, panel + t);
    for (std::size_t d = 0; here < kPanelColumns && d < key_words; ++d) {
      for (std::size_t t = here; t < kPanelColumns; ++t)
        panel[d * kPanelColumns + t] = 0.0F;
    }
  }
  // Values: panel[token][dimension].
  float* const values = keys + padded_tokens * key_words;
  const std::size_t value_words = words_of(tokens, kGroup);
  const std::size_t padded_width = up_to_panel(width);
  for (std::size_t first = 0; first < padded_width; first += kLanes) {
    float* const panel = values + first / kPanelColumns * kPanelColumns * value_words + first % kPanelColumns;
    for (std::size_t word = 0; word < value_words; ++word) {
      Vector rows[kGroup];
      LATEBIND_UNROLL
      for (std::size_t i = 0; i < kGroup; ++i) {
        const std::size_t t = word * kGroup + i;
        rows[i] = t < tokens && first < width ? load_part(head.value + t * head.stride, first, width) : hn::Zero(kTag);
      }
      hn::Store(Attention::words(rows), kTag, panel + word * kPanelColumns);
    }
  }
  float* const queries = values + padded_width * value_words;
  float* const scores = queries + (kGroup > 1 ? up_to_panel(kScoreRows * key_words) : 0);
  const Panels key_panels{keys, width, tokens};
  const Panels value_panels{values, tokens, width};
  for (std::size_t first = 0; first < tokens; first += kScoreRows) {
    if (head.is_over != nullptr && head.is_over(head.context)) return;
    const std::size_t rows = smaller(kScoreRows, tokens - first);
    const Rows query = Attention::rows_of({head.query + first * head.stride, rows, head.stride}, width, queries);
    multiply<Arithmetic>(query, key_panels, 0, padded_tokens / kPanelColumns, nullptr, {scores, rows, padded_tokens});
    float inverse[kScoreRows];
    for (std::size_t r = 0; r < rows; ++r)
      inverse[r] = soften(scores + r * padded_tokens, tokens, head.scale);
    // In their own place: words are fewer than numbers.
    const Rows weights = Attention::rows_of({scores, rows, padded_tokens}, tokens, scores);
    float* const out = head.out + first * head.out_stride;
    multiply<Arithmetic>(weights, value_panels, 0, padded_width / kPanelColumns, nullptr, {out, rows, head.out_stride});
    for (std::size_t r = 0; r < rows; ++r) {
      const Vector factor = hn::Set(kTag, inverse[r]);
      for_each_vector(out + r * head.out_stride, width, 0.0F,
                      [&](std::size_t, Vector value) { return hn::Mul(value, factor); });
    }
  }
}

constexpr Product kF32Product{.group = F32::kGroup,
                              .convert = nullptr,
                              .multiply = multiply<F32>,
                              .attend = attend<F32Attention>,
                              .attention_scratch = attention_scratch<F32Attention>};
#if defined(LATEBIND_HAS_BF16)
constexpr Product kBF16Product{.group = BF16::kGroup,
                               .convert = convert_to_bf16,
                               .multiply = multiply<BF16>,
                               .attend = attend<BF16Attention>,
                               .attention_scratch = attention_scratch<BF16Attention>};
#endif
#if defined(LATEBIND_HAS_INT8)
// Its attention is another product's.
constexpr Product kInt8Product{.group = Int8::kGroup, .convert = convert_to_int8, .multiply = multiply<Int8>};
#endif

}  // namespace
}  // namespace latebind::native
HWY_AFTER_NAMESPACE();
