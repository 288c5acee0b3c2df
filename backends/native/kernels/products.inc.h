// Matrix products and attention, written once for every instruction set with Highway's static dispatch: whoever
// includes this is compiled for one. Defines kF32Product, and of kBF16Product, kF16Product and kInt8Product what the
// instruction set has, in an unnamed namespace like all the rest.
//
// Matrix products hold a tile of y in registers: kTileRows rows of kVectors vectors. For each word of a row, the
// vectors of the panel's row are loaded once and multiplied by one word of each row of a; or, where there are
// instructions for that, by two words of each two rows. See docs/native.md.

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

// The sums of a tile of kRows rows, each of kVectors vectors: what one word of a row and one of each column add at a
// time.
template <class Arithmetic, std::size_t kRows>
struct RowSums {
  using Sum = typename Arithmetic::Sum;
  using Of = Sum[kRows][kVectors];

  // Of so many words of each row times a panel.
  static LATEBIND_INLINE void sum_up(const float* a, std::size_t a_stride, const float* panel, std::size_t words,
                                     Of& of) {
    LATEBIND_UNROLL
    for (std::size_t r = 0; r < kRows; ++r) {
      LATEBIND_UNROLL
      for (std::size_t v = 0; v < kVectors; ++v)
        of[r][v] = hn::Zero(hn::DFromV<Sum>());
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
          Arithmetic::step(of[r][v], x, b[v]);
      }
    }
  }
  static LATEBIND_INLINE Sum at(const Of& of, std::size_t r, std::size_t v) { return of[r][v]; }
};

#if defined(__ARM_FEATURE_MATMUL_INT8)
// The same where an instruction multiplies two words of two rows by two of two columns: a sum is the square of what
// comes of them, row by row. Of an odd number of rows the last one is taken twice.
template <class Arithmetic, std::size_t kRows>
struct SquareSums {
  using Sum = typename Arithmetic::Sum;
  static constexpr std::size_t kPairs = (kRows + 1) / 2;
  static constexpr std::size_t kSquares = 2 * kVectors;  // of a pair of rows
  using Of = Sum[kPairs][kSquares];

  static LATEBIND_INLINE void sum_up(const float* a, std::size_t a_stride, const float* panel, std::size_t words,
                                     Of& of) {
    constexpr hn::Half<Tag> kHalf;
    LATEBIND_UNROLL
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      LATEBIND_UNROLL
      for (std::size_t square = 0; square < kSquares; ++square)
        of[pair][square] = hn::Zero(hn::DFromV<Sum>());
    }
    for (std::size_t word = 0; word < words; word += 2, a += 2, panel += 2 * kPanelColumns) {
      Vector x[kPairs];
      LATEBIND_UNROLL
      for (std::size_t pair = 0; pair < kPairs; ++pair) {
        const float* const row = a + 2 * pair * a_stride;
        x[pair] =
            hn::Combine(kTag, hn::LoadU(kHalf, 2 * pair + 1 < kRows ? row + a_stride : row), hn::LoadU(kHalf, row));
      }
      LATEBIND_UNROLL
      for (std::size_t square = 0; square < kSquares; ++square) {
        const Vector b = hn::Load(kTag, panel + square * kLanes);
        LATEBIND_UNROLL
        for (std::size_t pair = 0; pair < kPairs; ++pair)
          Arithmetic::step(of[pair][square], x[pair], b);
      }
    }
  }
  static LATEBIND_INLINE Sum at(const Of& of, std::size_t r, std::size_t v) {
    const Sum first = of[r / 2][2 * v];
    const Sum second = of[r / 2][2 * v + 1];
    const hn::DFromV<Sum> tag;
    return r % 2 == 0 ? hn::ConcatLowerLower(tag, second, first) : hn::ConcatUpperUpper(tag, second, first);
  }
};
#endif

// The arithmetic of a product: how its numbers are kept, what words of rows and columns add to the sums, and, where
// only kPart numbers are summed up at a time, what a part's sum adds to the numbers in f32, by the kPartScales scales
// of the row and of the columns for each part.
struct F32 {
  using Sum = Vector;
  template <std::size_t kRows>
  using Sums = RowSums<F32, kRows>;
  static constexpr Format kFormat = Format::kF32;
  static constexpr std::size_t kSideBySide = 1;
  static constexpr std::size_t kPart = 0;
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) { sum = hn::MulAdd(a, b, sum); }
};

#if defined(__AVX512BF16__)
#define LATEBIND_HAS_BF16 1
struct BF16 {
  using Sum = Vector;
  template <std::size_t kRows>
  using Sums = RowSums<BF16, kRows>;
  static constexpr Format kFormat = Format::kBF16;
  static constexpr std::size_t kSideBySide = 1;
  static constexpr std::size_t kPart = 0;
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
  static constexpr Format kFormat = Format::kBF16;
  static constexpr std::size_t kPart = 0;
#if defined(__ARM_FEATURE_MATMUL_INT8)
  template <std::size_t kRows>
  using Sums = SquareSums<BF16, kRows>;
  static constexpr std::size_t kSideBySide = 2;
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    sum.raw = vbfmmlaq_f32(sum.raw, vreinterpretq_bf16_f32(a.raw), vreinterpretq_bf16_f32(b.raw));
  }
#else
  template <std::size_t kRows>
  using Sums = RowSums<BF16, kRows>;
  static constexpr std::size_t kSideBySide = 1;
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    sum.raw = vbfdotq_f32(sum.raw, vreinterpretq_bf16_f32(a.raw), vreinterpretq_bf16_f32(b.raw));
  }
#endif
  static LATEBIND_INLINE Vector join(Vector first, Vector second) {
    return Vector{vreinterpretq_f32_bf16(vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(first.raw), second.raw))};
  }
  static LATEBIND_INLINE Vector interleave(Vector low, Vector high) {
    const auto bits = [](Vector x) { return vreinterpret_u16_bf16(vcvt_bf16_f32(x.raw)); };
    return Vector{vreinterpretq_f32_u32(vorrq_u32(vmovl_u16(bits(low)), vshll_n_u16(bits(high), 16)))};
  }
};
#endif

#if defined(__AVX512FP16__) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
#define LATEBIND_HAS_F16 1
struct F16 {
  using Sum = Vector;  // of words
  template <std::size_t kRows>
  using Sums = RowSums<F16, kRows>;
  static constexpr Format kFormat = Format::kF16;
  static constexpr std::size_t kSideBySide = 1;
  static constexpr std::size_t kPart = kF16Part;
  static constexpr std::size_t kPartScales = 0;  // the same for all
#if defined(__AVX512FP16__)
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    sum.raw = reinterpret_cast<__m512>(_mm512_fmadd_ph(
        reinterpret_cast<__m512h>(a.raw), reinterpret_cast<__m512h>(b.raw), reinterpret_cast<__m512h>(sum.raw)));
  }
  static LATEBIND_INLINE Vector join(Vector first, Vector second) {
    const __m512i low = _mm512_castsi256_si512(_mm512_cvtps_ph(first.raw, kNearest));
    return Vector{_mm512_castsi512_ps(_mm512_inserti64x4(low, _mm512_cvtps_ph(second.raw, kNearest), 1))};
  }
  static LATEBIND_INLINE Vector interleave(Vector low, Vector high) {
    const auto bits = [](Vector x) { return _mm512_cvtepu16_epi32(_mm512_cvtps_ph(x.raw, kNearest)); };
    return Vector{_mm512_castsi512_ps(_mm512_or_si512(bits(low), _mm512_slli_epi32(bits(high), 16)))};
  }
  // Of both numbers of each word.
  static LATEBIND_INLINE Vector total(Sum sum) {
    const auto number = [](__m512i bits) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(bits)); };
    const __m512i bits = _mm512_castps_si512(sum.raw);
    return hn::Add(Vector{number(bits)}, Vector{number(_mm512_srli_epi32(bits, 16))});
  }
#else
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    sum.raw = vreinterpretq_f32_f16(
        vfmaq_f16(vreinterpretq_f16_f32(sum.raw), vreinterpretq_f16_f32(a.raw), vreinterpretq_f16_f32(b.raw)));
  }
  static LATEBIND_INLINE Vector join(Vector first, Vector second) {
    return Vector{vreinterpretq_f32_f16(vcvt_high_f16_f32(vcvt_f16_f32(first.raw), second.raw))};
  }
  static LATEBIND_INLINE Vector interleave(Vector low, Vector high) {
    const auto bits = [](Vector x) { return vreinterpret_u16_f16(vcvt_f16_f32(x.raw)); };
    return Vector{vreinterpretq_f32_u32(vorrq_u32(vmovl_u16(bits(low)), vshll_n_u16(bits(high), 16)))};
  }
  static LATEBIND_INLINE Vector total(Sum sum) {
    const auto number = [](uint16x4_t bits) { return vcvt_f32_f16(vreinterpret_f16_u16(bits)); };
    const uint32x4_t bits = vreinterpretq_u32_f32(sum.raw);
    return Vector{vaddq_f32(number(vmovn_u32(bits)), number(vshrn_n_u32(bits, 16)))};
  }
#endif
  static LATEBIND_INLINE Vector add_part(Sum sum, const float* row, const float* columns, Vector base) {
    return hn::MulAdd(hn::Mul(total(sum), hn::Set(kTag, *row)), hn::Load(kTag, columns), base);
  }

#if defined(__AVX512FP16__)
 private:
  static constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#endif
};
#endif

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__ARM_FEATURE_DOTPROD)
#define LATEBIND_HAS_INT8 1
struct Int8 {
  using Sum = IntVector;
  static constexpr Format kFormat = Format::kInt8;
  static constexpr std::size_t kPart = kInt8Block;
  static constexpr std::size_t kPartScales = 2;
#if defined(__ARM_FEATURE_MATMUL_INT8)
  template <std::size_t kRows>
  using Sums = SquareSums<Int8, kRows>;
  static constexpr std::size_t kSideBySide = 2;
#else
  template <std::size_t kRows>
  using Sums = RowSums<Int8, kRows>;
  static constexpr std::size_t kSideBySide = 1;
#endif
#if defined(__ARM_FEATURE_DOTPROD)
  // Of a row's bytes, which are signed here.
  static constexpr int kLeastByte = -128;
#else
  static constexpr int kLeastByte = 0;
#endif
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    // GCC 12 keeps the sums of Intel's intrinsics in memory.
#if defined(__AVX512VNNI__)
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
#elif defined(__AVXVNNI__)
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.raw) : "x"(a.raw), "x"(b.raw));
#elif defined(__ARM_FEATURE_MATMUL_INT8)
    sum.raw = vmmlaq_s32(sum.raw, vreinterpretq_s8_f32(a.raw), vreinterpretq_s8_f32(b.raw));
#else
    sum.raw = vdotq_s32(sum.raw, vreinterpretq_s8_f32(a.raw), vreinterpretq_s8_f32(b.raw));
#endif
  }
  static LATEBIND_INLINE Vector add_part(Sum sum, const float* row, const float* columns, Vector base) {
    const Vector products = hn::Mul(hn::ConvertTo(kTag, sum), hn::Set(kTag, row[0]));
    const Vector with_least = hn::MulAdd(hn::Set(kTag, row[1]), hn::Load(kTag, columns + kPanelColumns), products);
    return hn::MulAdd(with_least, hn::Load(kTag, columns), base);
  }
};
#endif

// Words of so many numbers of a row or column, without their scales.
template <class Arithmetic>
constexpr std::size_t words_in(std::size_t width) {
  return words_of(width, Arithmetic::kFormat, Arithmetic::kSideBySide);
}
// And with them.
template <class Arithmetic>
constexpr std::size_t operand_words(std::size_t width) {
  return words_in<Arithmetic>(width) + words_after(width, Arithmetic::kFormat);
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
  const std::size_t words = words_in<Arithmetic>(rows);
  using Sums = typename Arithmetic::template Sums<kRows>;
  typename Sums::Of sums;
  if constexpr (Arithmetic::kPart == 0) {
    Sums::sum_up(a, a_stride, panel, words, sums);
    put<kRows>(place, false, [&](std::size_t r, std::size_t v, Vector base) LATEBIND_INLINE_LAMBDA {
      return hn::Add(Sums::at(sums, r, v), base);
    });
  } else {
    constexpr std::size_t kPartWords = words_in<Arithmetic>(Arithmetic::kPart);
    const float* row_scales = a + words;
    const float* scales = panel + words * kPanelColumns;
    for (std::size_t first = 0; first < words; first += kPartWords) {
      Sums::sum_up(a + first, a_stride, panel + first * kPanelColumns, smaller(words - first, kPartWords), sums);
      put<kRows>(place, first > 0, [&](std::size_t r, std::size_t v, Vector base) LATEBIND_INLINE_LAMBDA {
        return Arithmetic::add_part(Sums::at(sums, r, v), row_scales + r * a_stride, scales + v * kLanes, base);
      });
      row_scales += Arithmetic::kPartScales;
      scales += Arithmetic::kPartScales * kPanelColumns;
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
  // Tiles of as equal heights as possible, of whole pairs of rows where they are multiplied in pairs.
  constexpr std::size_t kPair = Arithmetic::kSideBySide;
  static_assert(kTileRows % kPair == 0);
  const std::size_t tiles = (a.count + kTileRows - 1) / kTileRows;
  const std::size_t panel_rows = operand_words<Arithmetic>(b.rows);
  for (std::size_t p = first_panel; p < first_panel + panels; ++p) {
    const std::size_t column = p * kPanelColumns;
    const float* const panel = b.data + p * kPanelColumns * panel_rows;
    std::size_t row = 0;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const std::size_t pairs = (a.count - row + kPair - 1) / kPair / (tiles - tile);
      const std::size_t rows = smaller(pairs * kPair, a.count - row);
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

// Numbers are multiplied by the factor, and what comes of them by the scale.
struct Scaling {
  float factor;
  float scale;
};

// Of numbers of which the largest, without its sign, has these bits.
LATEBIND_INLINE Scaling scaling_of(std::uint32_t largest) {
  const F16Scale bits = f16_scale_of(largest);
  return {__builtin_bit_cast(float, bits.factor), __builtin_bit_cast(float, bits.scale)};
}

// The larger of each lane's and those of a vector without its signs, as bits: so it is where one is no number.
LATEBIND_INLINE IntVector larger_bits(IntVector largest, Vector x) {
  return hn::Max(largest, hn::BitCast(IntTag(), hn::Abs(x)));
}

#if defined(LATEBIND_HAS_BF16) || defined(LATEBIND_HAS_F16)
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

// Of the `width` numbers of a row; factors of 1 where the arithmetic has none.
template <class Arithmetic>
LATEBIND_INLINE Scaling scaling_of_row(const float* from, std::size_t width) {
  if constexpr (Arithmetic::kFormat == Format::kF16) {
    IntVector largest = hn::Zero(IntTag());
    for (std::size_t i = 0; i < width; i += kLanes)
      largest = larger_bits(largest, load_part(from, i, width));
    return scaling_of(static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(IntTag(), largest))));
  } else {
    return {1, 1};
  }
}

// The words of two of `width` numbers, from the position of a word on.
template <class Arithmetic>
LATEBIND_INLINE Vector load_pairs(const float* from, std::size_t position, std::size_t width, float factor) {
  Vector first = load_part(from, 2 * position, width);
  Vector second = load_part(from, 2 * position + kLanes, width);
  if constexpr (Arithmetic::kFormat == Format::kF16) {
    first = hn::Mul(first, hn::Set(kTag, factor));
    second = hn::Mul(second, hn::Set(kTag, factor));
  }
  return Arithmetic::join(first, second);
}

// `width` numbers as words of two; `to` may be `from`, with room for them and their scale.
template <class Arithmetic>
LATEBIND_INLINE void convert_row(const float* from, std::size_t width, float* to) {
  const std::size_t words = words_in<Arithmetic>(width);
  const Scaling by = scaling_of_row<Arithmetic>(from, width);
  for (std::size_t i = 0; i < words; i += kLanes)
    store_part(load_pairs<Arithmetic>(from, i, width, by.factor), to, i, words);
  if constexpr (words_after(1, Arithmetic::kFormat) != 0) to[words] = by.scale;
}

template <class Arithmetic>
void convert_pairs(const Rows& x, std::size_t width, const MutableRows& y) {
  for (std::size_t r = 0; r < x.count; ++r)
    convert_row<Arithmetic>(x.data + r * x.stride, width, y.data + r * y.stride);
}
#endif

#if defined(LATEBIND_HAS_INT8)
// A block whose numbers differ by less than this is as good as constant; its scale must not be 0.
constexpr float kLeastSpan = 1e-30F;

void convert_to_int8(const Rows& x, std::size_t width, const MutableRows& y) {
  const std::size_t words = words_in<Int8>(width);
  for (std::size_t r = 0; r < x.count; ++r) {
    float* const row = y.data + r * y.stride;
    if constexpr (Int8::kSideBySide > 1) row[words - 1] = 0.0F;  // where it is one more than the numbers take
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
        const std::size_t here = smaller(words * group_of(Format::kInt8) - first - i, kLanes);
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
  static constexpr bool kConverts = false;
  // Rows of `width` numbers as a product takes them, made in `scratch` if they have to be.
  static LATEBIND_INLINE Rows rows_of(const Rows& x, std::size_t /*width*/, float* /*scratch*/) { return x; }
  // `width` numbers as a column of a panel.
  static LATEBIND_INLINE void put_column(const float* from, std::size_t width, float* panel, std::size_t column) {
    for (std::size_t d = 0; d < width; ++d)
      panel[d * kPanelColumns + column] = from[d];
  }
  // A vector of each of those rows that follow each other and are a word's.
  static LATEBIND_INLINE Vector words(const Vector (&rows)[1]) { return rows[0]; }
};

#if defined(LATEBIND_HAS_BF16) || defined(LATEBIND_HAS_F16)
// In words of two numbers.
template <class PairArithmetic>
struct PairAttention {
  using Arithmetic = PairArithmetic;
  static constexpr bool kConverts = true;
  static LATEBIND_INLINE Rows rows_of(const Rows& x, std::size_t width, float* scratch) {
    // In their own place they stay as far apart: words are fewer than numbers, but for those of a panel's width.
    const std::size_t stride = scratch == x.data ? x.stride : operand_words<Arithmetic>(width);
    convert_pairs<Arithmetic>(x, width, {scratch, x.count, stride});
    return {scratch, x.count, stride};
  }
  static LATEBIND_INLINE void put_column(const float* from, std::size_t width, float* panel, std::size_t column) {
    const std::size_t words = words_in<Arithmetic>(width);
    const Scaling by = scaling_of_row<Arithmetic>(from, width);
    for (std::size_t i = 0; i < words; i += kLanes) {
      alignas(kAlignment) float lanes[kLanes];
      hn::Store(load_pairs<Arithmetic>(from, i, width, by.factor), kTag, lanes);
      for (std::size_t lane = 0; lane < smaller(words - i, kLanes); ++lane) {
        float* const to = panel + place_of_word(i + lane, column, kPanelColumns, Arithmetic::kSideBySide);
        __builtin_memcpy(to, lanes + lane, sizeof(float));
      }
    }
    if constexpr (words_after(1, Arithmetic::kFormat) != 0) panel[words * kPanelColumns + column] = by.scale;
  }
  static LATEBIND_INLINE Vector words(const Vector (&rows)[2]) { return Arithmetic::interleave(rows[0], rows[1]); }
};
#endif

// A vector of a word of each column, from a column on.
template <class Arithmetic>
LATEBIND_INLINE void put_words(Vector words, float* panel, std::size_t word, std::size_t column) {
  if constexpr (Arithmetic::kSideBySide == 1) {
    hn::Store(words, kTag, panel + word * kPanelColumns + column);
  } else {
    alignas(kAlignment) float lanes[kLanes];
    hn::Store(words, kTag, lanes);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      float* const to = panel + place_of_word(word, column + lane, kPanelColumns, Arithmetic::kSideBySide);
      __builtin_memcpy(to, lanes + lane, sizeof(float));
    }
  }
}

// The values of a head, so many columns of a panel from one on: panel[token][dimension].
template <class Attention>
LATEBIND_INLINE void put_values(const AttentionHead& head, std::size_t first, float* panel, std::size_t column) {
  using Arithmetic = typename Attention::Arithmetic;
  constexpr std::size_t kGroup = group_of(Arithmetic::kFormat);
  const std::size_t words = words_in<Arithmetic>(head.tokens);
  const auto load = [&](std::size_t t) LATEBIND_INLINE_LAMBDA {
    return t < head.tokens && first < head.width ? load_part(head.value + t * head.value_stride, first, head.width)
                                                 : hn::Zero(kTag);
  };
  Vector factor = hn::Set(kTag, 1.0F);
  if constexpr (Arithmetic::kFormat == Format::kF16) {
    IntVector largest = hn::Zero(IntTag());
    for (std::size_t t = 0; t < head.tokens; ++t)
      largest = larger_bits(largest, load(t));
    alignas(kAlignment) std::int32_t bits[kLanes];
    hn::Store(largest, IntTag(), bits);
    alignas(kAlignment) float factors[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Scaling by = scaling_of(static_cast<std::uint32_t>(bits[lane]));
      factors[lane] = by.factor;
      panel[words * kPanelColumns + column + lane] = by.scale;
    }
    factor = hn::Load(kTag, factors);
  }
  for (std::size_t word = 0; word < words; ++word) {
    Vector rows[kGroup];
    LATEBIND_UNROLL
    for (std::size_t i = 0; i < kGroup; ++i) {
      rows[i] = load(word * kGroup + i);
      if constexpr (Arithmetic::kFormat == Format::kF16) rows[i] = hn::Mul(rows[i], factor);
    }
    put_words<Arithmetic>(Attention::words(rows), panel, word, column);
  }
}

// To the scores of a token with all of the text.
LATEBIND_INLINE void add_distances(const AttentionHead& head, std::size_t token, float* scores) {
  const float* const bias = head.distance_bias;
  const std::size_t farthest = head.farthest;
  const std::size_t first = token > farthest ? token - farthest : 0;
  const std::size_t end = smaller(token + farthest + 1, head.tokens);
  const auto add = [&](std::size_t from, std::size_t to, float number) LATEBIND_INLINE_LAMBDA {
    for_each_vector(scores + from, to - from, 0.0F,
                    [&](std::size_t, Vector score) { return hn::Add(score, hn::Set(kTag, number)); });
  };
  add(0, first, bias[0]);
  const float* const near = bias + (first + farthest - token);
  for_each_vector(scores + first, end - first, 0.0F,
                  [&](std::size_t i, Vector score) { return hn::Add(score, load_part(near, i, end - first)); });
  add(end, head.tokens, bias[2 * farthest]);
}

// Behind the last token that this one attends to.
LATEBIND_INLINE std::size_t end_of_sight(const AttentionHead& head, std::size_t token) {
  const std::size_t further = head.causal ? 0 : head.window;
  return head.tokens - token > further ? smaller(token + further + 1, head.keys) : head.keys;
}

// As soften(), of the scores of a token with those of the text that it attends to; the others become 0, as what it
// returns for one that attends to none.
LATEBIND_INLINE float soften_sight(const AttentionHead& head, std::size_t token, float* scores) {
  const std::size_t end = end_of_sight(head, token);
  const std::size_t first = token > head.window ? smaller(token - head.window, end) : 0;
  for (std::size_t s = 0; s < first; ++s)
    scores[s] = 0.0F;
  for (std::size_t s = end; s < head.tokens; ++s)
    scores[s] = 0.0F;
  return first == end ? 0.0F : soften(scores + first, end - first, head.scale);
}

// Of the keys as panels, the values as panels, the queries and the scores.
template <class Attention>
std::size_t attention_scratch(std::size_t tokens, std::size_t width) {
  using Arithmetic = typename Attention::Arithmetic;
  return up_to_panel(tokens) * operand_words<Arithmetic>(width) +
         up_to_panel(width) * operand_words<Arithmetic>(tokens) +
         (Attention::kConverts ? up_to_panel(kScoreRows * operand_words<Arithmetic>(width)) : 0) +
         kScoreRows * up_to_panel(tokens);
}

template <class Attention>
void attend(const AttentionHead& head, float* scratch) {
  using Arithmetic = typename Attention::Arithmetic;
  const std::size_t tokens = head.tokens;
  const std::size_t width = head.width;
  // Keys, transposed: panel[dimension][token].
  float* const keys = scratch;
  const std::size_t key_words = operand_words<Arithmetic>(width);
  const std::size_t padded_tokens = up_to_panel(tokens);
  for (std::size_t first = 0; first < padded_tokens; first += kPanelColumns) {
    float* const panel = keys + first * key_words;
    const std::size_t here = smaller(tokens - first, kPanelColumns);
    for (std::size_t i = 0; here < kPanelColumns && i < key_words * kPanelColumns; ++i)
      panel[i] = 0.0F;
    for (std::size_t t = 0; t < here; ++t)
      Attention::put_column(head.key + (first + t) * head.key_stride, width, panel, t);
  }
  float* const values = keys + padded_tokens * key_words;
  const std::size_t value_words = operand_words<Arithmetic>(tokens);
  const std::size_t padded_width = up_to_panel(width);
  for (std::size_t first = 0; first < padded_width; first += kLanes) {
    const std::size_t column = first % kPanelColumns;
    put_values<Attention>(head, first, values + (first - column) * value_words, column);
  }
  float* const queries = values + padded_width * value_words;
  float* const scores = queries + (Attention::kConverts ? up_to_panel(kScoreRows * key_words) : 0);
  const Panels key_panels{keys, width, tokens};
  const Panels value_panels{values, tokens, width};
  for (std::size_t first = 0; first < tokens; first += kScoreRows) {
    if (head.is_over != nullptr && head.is_over(head.context)) return;
    const std::size_t rows = smaller(kScoreRows, tokens - first);
    const Rows query =
        Attention::rows_of({head.query + first * head.query_stride, rows, head.query_stride}, width, queries);
    // The panels with keys that one of these queries attends to.
    const std::size_t nearest = first > head.window ? (first - head.window) / kPanelColumns : 0;
    const std::size_t panels_end = up_to_panel(end_of_sight(head, first + rows - 1)) / kPanelColumns;
    if (nearest < panels_end)
      multiply<Arithmetic>(query, key_panels, nearest, panels_end - nearest, nullptr, {scores, rows, padded_tokens});
    float inverse[kScoreRows];
    for (std::size_t r = 0; r < rows; ++r) {
      if (head.distance_bias != nullptr) add_distances(head, first + r, scores + r * padded_tokens);
      inverse[r] = soften_sight(head, first + r, scores + r * padded_tokens);
    }
    // In their own place.
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

constexpr Product kF32Product{.format = Format::kF32,
                              .side_by_side = 1,
                              .convert = nullptr,
                              .multiply = multiply<F32>,
                              .attend = attend<F32Attention>,
                              .attention_scratch = attention_scratch<F32Attention>};
#if defined(LATEBIND_HAS_BF16) || defined(LATEBIND_HAS_F16)
template <class Arithmetic>
constexpr Product kPairProduct{.format = Arithmetic::kFormat,
                               .side_by_side = Arithmetic::kSideBySide,
                               .convert = convert_pairs<Arithmetic>,
                               .multiply = multiply<Arithmetic>,
                               .attend = attend<PairAttention<Arithmetic>>,
                               .attention_scratch = attention_scratch<PairAttention<Arithmetic>>};
#endif
#if defined(LATEBIND_HAS_BF16)
constexpr Product kBF16Product = kPairProduct<BF16>;
#endif
#if defined(LATEBIND_HAS_F16)
constexpr Product kF16Product = kPairProduct<F16>;
#endif
#if defined(LATEBIND_HAS_INT8)
// Its attention is another product's.
constexpr Product kInt8Product{
    .format = Int8::kFormat, .side_by_side = Int8::kSideBySide, .convert = convert_to_int8, .multiply = multiply<Int8>};
#endif

}  // namespace
}  // namespace latebind::native
HWY_AFTER_NAMESPACE();
