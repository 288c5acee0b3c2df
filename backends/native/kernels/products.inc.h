// Matrix products and attention, written once for every instruction set with Highway's static dispatch: each including
// file is compiled for one set. Defines, in an unnamed namespace, kF32Product and those of kBF16Product, kF16Product
// and kInt8Product that the instruction set supports.
//
// A matrix product keeps a tile of y in registers: kTileRows rows of kVectors vectors. For each word of a row, it loads
// the vectors of the panel once, and multiplies them by the word of each of a's rows. Instructions that multiply
// squares instead take two words of two rows at a time. Invariant: each number of y is summed in the same order,
// whatever the number of rows, tiles or threads. Products whose partial sums are short (kPart) add each part to y in
// f32 before the next one. See docs/native.md.
//
// Attention handles one head of one text: it packs keys (transposed) and values into panels, and then, for kScoreRows
// queries at a time, computes scores by a product, a softmax over each row of scores, and the weighted values by
// another product. The softmax leaves the weights unnormalised; the result is multiplied by 1 / their sum at the end.

// These headers must not be compiled for two instruction sets either. Therefore nothing here may come from a header
// with inline functions, except from Highway, which names its functions by instruction set.
#define HWY_COMPILE_ONLY_STATIC 1
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <utility>

#include "backends/native/kernels/kernels.h"

// Highway's functions are compiled with these attributes, and are to be inlined here.
HWY_BEFORE_NAMESPACE();
namespace latebind::native {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
constexpr Tag kTag;

constexpr std::size_t kLanes = hn::MaxLanes(Tag());
// Chosen by the number of vector registers: 32 on AVX-512 and aarch64, 16 elsewhere.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr std::size_t kVectors = kLanes >= 16 ? 2 : 4;
constexpr std::size_t kTileRows = kLanes >= 16 ? 14 : 6;
#else
constexpr std::size_t kVectors = 2;
constexpr std::size_t kTileRows = 6;
#endif
constexpr std::size_t kPanelColumns = kVectors * kLanes;
// How many words of a panel are prefetched, if the panel is read only once: weights come from beyond the second-level
// cache, panel after panel, and the hardware prefetcher is late. On Zen 4, products in f32 took 5 % less time; with a
// quarter of this distance, 2 % less.
constexpr std::size_t kAhead = 64;

#define LATEBIND_INLINE_LAMBDA __attribute__((always_inline))
#define LATEBIND_INLINE inline LATEBIND_INLINE_LAMBDA
#define LATEBIND_UNROLL _Pragma("GCC unroll 16")

// Not std::min: the linker might keep a copy that is compiled for these instructions, and use it in other files.
constexpr std::size_t smaller(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}

// Load and store the first `count` lanes, fewer than all; the other lanes are `others`. Memory beyond `count` numbers
// is not touched.
#if HWY_TARGET <= HWY_AVX2
LATEBIND_INLINE Vector load_lanes(const float* from, std::size_t count, float others) {
  const auto mask = hn::FirstN(kTag, count);
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, kTag, from), hn::Set(kTag, others));
}
LATEBIND_INLINE void store_lanes(Vector lanes, float* to, std::size_t count) {
  hn::BlendedStore(lanes, hn::FirstN(kTag, count), kTag, to);
}
#else
LATEBIND_INLINE Vector load_lanes(const float* from, std::size_t count, float others) {
  alignas(kAlignment) float lanes[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    lanes[lane] = lane < count ? from[lane] : others;
  return hn::Load(kTag, lanes);
}
LATEBIND_INLINE void store_lanes(Vector lanes, float* to, std::size_t count) {
  alignas(kAlignment) float all[kLanes];
  hn::Store(lanes, kTag, all);
  __builtin_memcpy(to, all, count * sizeof(float));
}
#endif

using IntTag = hn::RebindToSigned<Tag>;
using IntVector = hn::Vec<IntTag>;

// The memory to prefetch while a tile is computed, `step` bytes for each of its words. The address need not be valid.
struct Ahead {
  const char* from = nullptr;
  std::size_t step = 0;
};

// The part of the next panel that one of several tiles prefetches. If the first tile prefetched it all, it would wait
// most of the time: the third-level cache of an Intel Xeon delivers less to a core than a tile reads. There, products
// of 56 rows in f32 took 20 % less time, of 64 rows 17 %.
LATEBIND_INLINE Ahead part_of_next(const float* next, std::size_t words, std::size_t tile, std::size_t tiles) {
  const std::size_t step = kPanelColumns * sizeof(float) / tiles;
  return {reinterpret_cast<const char*>(next) + tile * words * step, step};
}

// The sums of a tile of kRows rows of kVectors vectors. Arithmetic::step() adds the products of one word of a row and
// one word of each column.
template <class Arithmetic, std::size_t kRows>
struct RowSums {
  using Sum = typename Arithmetic::Sum;
  using Of = Sum[kRows][kVectors];

  // Sums up `words` words of each row times the panel.
  static LATEBIND_INLINE void sum_up(const float* a, std::size_t a_stride, const float* panel, std::size_t words,
                                     Ahead& ahead, Of& of) {
    constexpr std::size_t kLines = (kPanelColumns * sizeof(float) + kAlignment - 1) / kAlignment;
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
      for (std::size_t line = 0; line < kLines; ++line)
        __builtin_prefetch(ahead.from + line * (ahead.step / kLines));
      ahead.from += ahead.step;
      LATEBIND_UNROLL
      for (std::size_t r = 0; r < kRows; ++r) {
        // A copy, because the words are floats only for F32.
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
// The sums when an instruction multiplies two words of two rows by two words of two columns: each sum is a 2×2 square
// of results, row by row. If the number of rows is odd, the last row is used twice.
template <class Arithmetic, std::size_t kRows>
struct SquareSums {
  using Sum = typename Arithmetic::Sum;
  static constexpr std::size_t kPairs = (kRows + 1) / 2;
  static constexpr std::size_t kSquares = 2 * kVectors;  // of a pair of rows
  using Of = Sum[kPairs][kSquares];

  static LATEBIND_INLINE void sum_up(const float* a, std::size_t a_stride, const float* panel, std::size_t words,
                                     Ahead& /*ahead*/, Of& of) {
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

// The arithmetic of a product: the format of its operands, and step(), which multiplies words and adds the products to
// the sums. If sums are limited to kPart numbers, add_part() adds a part's sum to the numbers in f32, using kPartScales
// scales of the row and of each column for each part.
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
  // Packs two consecutive vectors of numbers.
  static LATEBIND_INLINE Vector join(Vector first, Vector second) {
    return Vector{reinterpret_cast<__m512>(_mm512_cvtne2ps_pbh(second.raw, first.raw))};
  }
  // Packs one number of each vector into a word.
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
  using Sum = Vector;  // holds two f16 sums in each word
  template <std::size_t kRows>
  using Sums = RowSums<F16, kRows>;
  static constexpr Format kFormat = Format::kF16;
  static constexpr std::size_t kSideBySide = 1;
  static constexpr std::size_t kPart = kF16Part;
  static constexpr std::size_t kPartScales = 0;  // one scale for all parts
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
  // The sum of both numbers of each word.
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
  // The least value of a row's bytes, which are signed here.
  static constexpr int kLeastByte = -128;
#else
  static constexpr int kLeastByte = 0;
#endif
  static LATEBIND_INLINE void step(Sum& sum, Vector a, Vector b) {
    // GCC 12 keeps the sums in memory if Intel's intrinsics are used.
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

// Words of `width` numbers of a row or column, without scales.
template <class Arithmetic>
constexpr std::size_t words_in(std::size_t width) {
  return words_of(width, Arithmetic::kFormat, Arithmetic::kSideBySide);
}
// The same, with scales.
template <class Arithmetic>
constexpr std::size_t operand_words(std::size_t width) {
  return words_in<Arithmetic>(width) + words_after(width, Arithmetic::kFormat);
}

// The destination of a tile: `columns` columns, at most a panel's.
struct Place {
  const float* bias = nullptr;  // may be null
  float* y = nullptr;
  std::size_t stride = 0;
  std::size_t columns = 0;
};

// Writes y = sum(row, vector, base) for kRows rows, where base is y itself if `adds`, and otherwise the bias.
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
      const Vector start = bias != nullptr ? load_lanes(bias, count, 0.0F) : hn::Zero(kTag);
      LATEBIND_UNROLL
      for (std::size_t r = 0; r < kRows; ++r) {
        float* const y = place.y + r * place.stride + first;
        store_lanes(sum(r, v, adds ? load_lanes(y, count, 0.0F) : start), y, count);
      }
    }
  }
}

// The operands of a tile: words of rows of a and of a panel, and the scales that belong to them.
struct TileOperands {
  const float* a = nullptr;
  const float* a_scales = nullptr;
  std::size_t a_stride = 0;
  const float* panel = nullptr;
  const float* scales = nullptr;
  std::size_t words = 0;
  bool adds = false;  // to y, instead of the bias
};

// Computes kRows rows of one panel of y = a · b + bias.
template <class Arithmetic, std::size_t kRows>
void multiply_tile(const TileOperands& of, const Place& place, Ahead ahead) {
  const std::size_t a_stride = of.a_stride;
  const std::size_t words = of.words;
  using Sums = typename Arithmetic::template Sums<kRows>;
  typename Sums::Of sums;
  if constexpr (Arithmetic::kPart == 0) {
    Sums::sum_up(of.a, a_stride, of.panel, words, ahead, sums);
    put<kRows>(place, false, [&](std::size_t r, std::size_t v, Vector base) LATEBIND_INLINE_LAMBDA {
      return hn::Add(Sums::at(sums, r, v), base);
    });
  } else {
    constexpr std::size_t kPartWords = words_in<Arithmetic>(Arithmetic::kPart);
    const float* row_scales = of.a_scales;
    const float* scales = of.scales;
    for (std::size_t first = 0; first < words; first += kPartWords) {
      Sums::sum_up(of.a + first, a_stride, of.panel + first * kPanelColumns, smaller(words - first, kPartWords), ahead,
                   sums);
      put<kRows>(place, of.adds || first > 0, [&](std::size_t r, std::size_t v, Vector base) LATEBIND_INLINE_LAMBDA {
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
// The tile functions by number of rows, from 1 on.
template <class Arithmetic>
constexpr TileTable<Arithmetic> kTiles = make_tile_table<Arithmetic>(std::make_index_sequence<kTileRows>());

constexpr std::size_t tiles_of(std::size_t rows) {
  return (rows + kTileRows - 1) / kTileRows;
}

// Computes all rows of a panel in tiles. `of` has the operands of the first row, and `place` its destination;
// ahead(tile, tiles) returns what a tile prefetches.
template <class Arithmetic, class Function>
LATEBIND_INLINE void multiply_rows_of(std::size_t row_count, TileOperands of, Place place, const Function& ahead) {
  // Tiles of heights as equal as possible, in whole pairs of rows if rows are multiplied in pairs.
  constexpr std::size_t kPair = Arithmetic::kSideBySide;
  static_assert(kTileRows % kPair == 0);
  const std::size_t tiles = tiles_of(row_count);
  std::size_t row = 0;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    const std::size_t pairs = (row_count - row + kPair - 1) / kPair / (tiles - tile);
    const std::size_t rows = smaller(pairs * kPair, row_count - row);
    kTiles<Arithmetic>.of[rows](of, place, ahead(tile, tiles));
    of.a += rows * of.a_stride;
    of.a_scales += rows * of.a_stride;
    place.y += rows * place.stride;
    row += rows;
  }
}

// The destination of a panel's first row.
LATEBIND_INLINE Place place_of_panel(const Panels& b, std::size_t p, const float* bias, const MutableRows& y) {
  const std::size_t column = p * kPanelColumns;
  return {.bias = bias != nullptr ? bias + column : nullptr,
          .y = y.data + column,
          .stride = y.stride,
          .columns = smaller(b.columns - column, kPanelColumns)};
}

template <class Arithmetic>
void multiply(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panels, const float* bias,
              const MutableRows& y) {
  const std::size_t words = words_in<Arithmetic>(b.rows);
  const std::size_t panel_rows = operand_words<Arithmetic>(b.rows);
  for (std::size_t p = first_panel; p < first_panel + panels; ++p) {
    const float* const panel = b.data + p * kPanelColumns * panel_rows;
    const float* const next =
        p + 1 < first_panel + panels || b.next == nullptr ? panel + kPanelColumns * panel_rows : b.next;
    multiply_rows_of<Arithmetic>(a.count,
                                 {.a = a.data,
                                  .a_scales = a.data + words,
                                  .a_stride = a.stride,
                                  .panel = panel,
                                  .scales = panel + words * kPanelColumns,
                                  .words = words},
                                 place_of_panel(b, p, bias, y),
                                 [&](std::size_t tile, std::size_t tiles) LATEBIND_INLINE_LAMBDA {
                                   return tiles > 1 ? part_of_next(next, panel_rows, tile, tiles)
                                                    : part_of_next(panel + kAhead * kPanelColumns, panel_rows, 0, 1);
                                 });
  }
}

// Calls f(position, vector) for the `width` numbers of x and stores the results in y, which may be x. The last vector
// may be partial; its lanes beyond the end are `fill`.
template <class Function>
LATEBIND_INLINE void put_each_vector(const float* x, float* y, std::size_t width, const Function& function,
                                     float fill = 0.0F) {
  std::size_t i = 0;
  for (; i + kLanes <= width; i += kLanes)
    hn::StoreU(function(i, hn::LoadU(kTag, x + i)), kTag, y + i);
  if (i < width) store_lanes(function(i, load_lanes(x + i, width - i, fill)), y + i, width - i);
}
// The same in place.
template <class Function>
LATEBIND_INLINE void for_each_vector(float* x, std::size_t width, float fill, const Function& function) {
  put_each_vector(x, x, width, function, fill);
}

// Loads a vector at `position` of the `width` numbers at `from`; lanes beyond the end are `fill`.
LATEBIND_INLINE Vector load_part(const float* from, std::size_t position, std::size_t width, float fill = 0.0F) {
  if (position + kLanes <= width) return hn::LoadU(kTag, from + position);
  return position < width ? load_lanes(from + position, width - position, fill) : hn::Set(kTag, fill);
}

constexpr std::size_t up_to_panel(std::size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

// The number of queries whose scores are kept at a time: a multiple of a tile's rows.
constexpr std::size_t kScoreRows = 4 * kTileRows;

// 2^x for x from -126 to 126; fit_power.py 6 made the coefficients. It takes half the instructions of Highway's Exp,
// which also handles numbers that do not occur here.
LATEBIND_INLINE Vector power_of_two(Vector x) {
  constexpr float kCoefficients[] = {1.535336196e-04F, 1.339887385e-03F, 9.618436918e-03F,
                                     5.550332367e-02F, 2.402264774e-01F, 6.931471825e-01F};
  // Adding this constant rounds to the nearest integer, which is then in the last bits.
  const Vector whole = hn::Set(kTag, 0x1.8p23F);
  const Vector shifted = hn::Add(x, whole);
  const Vector rest = hn::Sub(x, hn::Sub(shifted, whole));
  Vector power = hn::Set(kTag, kCoefficients[0]);
  LATEBIND_UNROLL
  for (std::size_t i = 1; i < sizeof(kCoefficients) / sizeof(float); ++i)
    power = hn::MulAdd(power, rest, hn::Set(kTag, kCoefficients[i]));
  power = hn::MulAdd(power, rest, hn::Set(kTag, 1.0F));
  const IntVector exponent = hn::ShiftLeft<23>(hn::BitCast(IntTag(), shifted));
  return hn::BitCast(kTag, hn::Add(hn::BitCast(IntTag(), power), exponent));
}

// The least weight of a key relative to the heaviest, as log2. A smaller weight has no influence, and this one is far
// enough from the least normal number that products with values stay normal: with subnormal numbers, an Intel Xeon took
// ten times as long.
constexpr float kLeastWeightLog2 = -96.0F;

// Replaces each of `count` numbers x by exp(scale · (x - max x)), and returns 1 / their sum. The result is NaN if a
// number is NaN or infinite, which the maximum alone would not show: x · 0 is added to the sum.
LATEBIND_INLINE float soften(float* row, std::size_t count, float scale) {
  const std::size_t whole = count / kLanes * kLanes;
  Vector top = hn::Set(kTag, row[0]);
  Vector nothing = hn::Zero(kTag);
  const auto look_at = [&](Vector x) LATEBIND_INLINE_LAMBDA {
    top = hn::Max(top, x);
    nothing = hn::MulAdd(x, hn::Zero(kTag), nothing);
  };
  for (std::size_t i = 0; i < whole; i += kLanes)
    look_at(hn::LoadU(kTag, row + i));
  if (whole < count) look_at(load_lanes(row + whole, count - whole, row[0]));
  constexpr float kLog2OfE = 1.4426950408889634F;
  const Vector factor = hn::Set(kTag, scale * kLog2OfE);
  const Vector shift = hn::Neg(hn::Mul(hn::MaxOfLanes(kTag, top), factor));
  const Vector lowest = hn::Set(kTag, kLeastWeightLog2);
  const auto power_of = [&](Vector x) LATEBIND_INLINE_LAMBDA {
    return power_of_two(hn::Max(hn::MulAdd(x, factor, shift), lowest));
  };
  // 0, or NaN if a number is not finite.
  Vector sum = nothing;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const Vector power = power_of(hn::LoadU(kTag, row + i));
    sum = hn::Add(sum, power);
    hn::StoreU(power, kTag, row + i);
  }
  if (whole < count) {
    const std::size_t rest = count - whole;
    const Vector power = power_of(load_lanes(row + whole, rest, row[whole]));
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(kTag, rest), power));
    store_lanes(power, row + whole, rest);
  }
  return 1.0F / hn::GetLane(hn::SumOfLanes(kTag, sum));
}

// Operands are multiplied by `factor`, and results by `scale`.
struct Scaling {
  float factor;
  float scale;
};

// The scaling for numbers whose largest magnitude has these bits.
LATEBIND_INLINE Scaling scaling_of(std::uint32_t largest) {
  const F16Scale bits = f16_scale_of(largest);
  return {__builtin_bit_cast(float, bits.factor), __builtin_bit_cast(float, bits.scale)};
}

// The larger of each lane and the magnitude in x, compared as bits, so that NaN is the largest.
LATEBIND_INLINE IntVector larger_bits(IntVector largest, Vector x) {
  return hn::Max(largest, hn::BitCast(IntTag(), hn::Abs(x)));
}

#if defined(LATEBIND_HAS_BF16) || defined(LATEBIND_HAS_F16)
// Stores a vector of words at `position` of `count` words.
LATEBIND_INLINE void store_part(Vector words, float* to, std::size_t position, std::size_t count) {
  if (position + kLanes <= count) {
    hn::StoreU(words, kTag, to + position);
  } else {
    store_lanes(words, to + position, count - position);
  }
}

// The scaling of a row of `width` numbers; 1 if the arithmetic does not scale.
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

// Loads 2 · kLanes of `width` numbers, as words of two, from word `position` on.
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

// Converts `width` numbers to words of two. `to` may be `from`, with room for the words and the scale.
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
// The least span of a block: the scale of a constant block must not be 0.
constexpr float kLeastSpan = 1e-30F;

// Converts a block of `count` numbers to bytes, and writes its scale and shift. `bytes` has room for `room` bytes.
template <bool kIsWhole>
LATEBIND_INLINE void convert_block(const float* from, std::size_t count, unsigned char* bytes, std::size_t room,
                                   float* scales) {
  // Only a partial block has a partial vector.
  static_assert(kInt8Block % kLanes == 0);
  const auto load = [&](std::size_t i) LATEBIND_INLINE_LAMBDA {
    return kIsWhole ? hn::LoadU(kTag, from + i) : load_part(from, i, count, from[0]);
  };
  const std::size_t end = kIsWhole ? kInt8Block : count;
  Vector low = hn::Set(kTag, from[0]);
  Vector high = low;
  // NaN if a number is not finite; minimum and maximum would lose it.
  Vector nothing = hn::Zero(kTag);
  for (std::size_t i = 0; i < end; i += kLanes) {
    const Vector value = load(i);
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
  for (std::size_t i = 0; i < end; i += kLanes) {
    const Vector steps = hn::Mul(hn::Sub(load(i), shift), factor);
    const auto part = hn::Xor(hn::DemoteTo(byte_tag, hn::NearestInt(steps)), flipped);
    if constexpr (kIsWhole) {
      hn::StoreU(part, byte_tag, bytes + i);
    } else {
      alignas(16) unsigned char all[kLanes];
      hn::StoreU(part, byte_tag, all);
      __builtin_memcpy(bytes + i, all, smaller(room - i, kLanes));
    }
  }
  scales[0] = hn::AllTrue(kTag, hn::Eq(nothing, hn::Zero(kTag))) ? scale : __builtin_nanf("");
  scales[1] = least - static_cast<float>(Int8::kLeastByte) * scale;
}

void convert_to_int8(const Rows& x, std::size_t width, const MutableRows& y) {
  const std::size_t words = words_in<Int8>(width);
  for (std::size_t r = 0; r < x.count; ++r) {
    float* const row = y.data + r * y.stride;
    if constexpr (Int8::kSideBySide > 1) row[words - 1] = 0.0F;  // exists only for the pairing of words
    const float* const from = x.data + r * x.stride;
    auto* const bytes = reinterpret_cast<unsigned char*>(row);
    float* scales = row + words;
    std::size_t first = 0;
    for (; first + kInt8Block <= width; first += kInt8Block, scales += 2)
      convert_block<true>(from + first, kInt8Block, bytes + first, kInt8Block, scales);
    if (first < width)
      convert_block<false>(from + first, width - first, bytes + first, words * group_of(Format::kInt8) - first, scales);
  }
}
#endif

#if defined(LATEBIND_HAS_INT8)
// Computes (factor · q + offset) >> 8 for the four-bit codes of a vector: those in the low halves of bytes to `low`,
// those in the high halves to `high`. `factor` and `offset` have one number in every 16 bits.
template <class Of16>
LATEBIND_INLINE void expand_codes(Of16 codes, Of16 factor, Of16 offset, Vector& low, Vector& high) {
  const hn::DFromV<Of16> tag;
  const Of16 code = hn::Set(tag, 0x0F);
  const auto pair = [&](Of16 first, Of16 second) LATEBIND_INLINE_LAMBDA {
    const Of16 first_byte = hn::ShiftRight<8>(hn::Add(hn::Mul(first, factor), offset));
    const Of16 second_byte = hn::And(hn::Add(hn::Mul(second, factor), offset), hn::Set(tag, 0xFF00));
    return hn::BitCast(kTag, hn::Or(first_byte, second_byte));
  };
  low = pair(hn::And(codes, code), hn::And(hn::ShiftRight<8>(codes), code));
  high = pair(hn::And(hn::ShiftRight<4>(codes), code), hn::ShiftRight<12>(codes));
}

// Expands one group of rows of a panel of four bits to its words in int8.
LATEBIND_INLINE void expand_group(const float* packed, float* words) {
  constexpr std::size_t kSide = Int8::kSideBySide;
  constexpr std::size_t kHalf = kFourBitCodes * kPanelColumns;
  const hn::RebindToUnsigned<Tag> tag32;
  const hn::Repartition<std::uint16_t, Tag> tag16;
  LATEBIND_UNROLL
  for (std::size_t v = 0; v < kVectors; ++v) {
    const Vector factors = hn::Load(kTag, packed + kHalf + v * kLanes);
    LATEBIND_UNROLL
    for (std::size_t side = 0; side < kSide; ++side) {
      // The factors of the columns of this vector of words.
      Vector mine = factors;
      if constexpr (kSide == 2) {
        mine = side == 0 ? hn::InterleaveLower(kTag, factors, factors) : hn::InterleaveUpper(kTag, factors, factors);
      }
      const auto both = hn::BitCast(tag32, mine);
      const auto first = hn::And(both, hn::Set(tag32, 0xFFFFU));
      const auto second = hn::ShiftRight<16>(both);
      const auto factor = hn::BitCast(tag16, hn::Or(first, hn::ShiftLeft<16>(first)));
      const auto offset = hn::BitCast(tag16, hn::Or(second, hn::ShiftLeft<16>(second)));
      LATEBIND_UNROLL
      for (std::size_t word = 0; word < kFourBitCodes; word += kSide) {
        const std::size_t at = word * kPanelColumns + v * kLanes * kSide + side * kLanes;
        Vector low;
        Vector high;
        expand_codes(hn::BitCast(tag16, hn::Load(kTag, packed + at)), factor, offset, low, high);
        hn::Store(low, kTag, words + at);
        hn::Store(high, kTag, words + kHalf + at);
      }
    }
  }
}

// As multiply(), for panels of four bits: a part of a panel is expanded, and all rows are multiplied by it. Sums have
// the order of multiply(), so that the results are those of the same bytes in a panel of int8.
void multiply_four_bits(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panels, const float* bias,
                        const MutableRows& y) {
  // Rows that are expanded at a time, which stay in the first-level cache.
  constexpr std::size_t kPartRows = 4 * kInt8Block;
  constexpr std::size_t kGroupWords = words_in<Int8>(kFourBitGroup);
  constexpr std::size_t kPackedGroup = (kFourBitCodes + 1) * kPanelColumns;
  static_assert(kInt8Block % kFourBitGroup == 0 && kGroupWords == 2 * kFourBitCodes);
  alignas(kAlignment) float words[words_in<Int8>(kPartRows) * kPanelColumns];
  const std::size_t a_words = words_in<Int8>(b.rows);
  const std::size_t codes = four_bit_words(b.rows);
  const std::size_t panel_words = codes + words_after(b.rows, Format::kInt8);
  for (std::size_t p = first_panel; p < first_panel + panels; ++p) {
    const float* packed = b.data + p * kPanelColumns * panel_words;
    const float* const scales = packed + codes * kPanelColumns;
    const Place place = place_of_panel(b, p, bias, y);
    for (std::size_t first = 0; first < b.rows; first += kPartRows) {
      const std::size_t rows = smaller(kPartRows, b.rows - first);
      for (std::size_t group = 0; group < rows / kFourBitGroup; ++group, packed += kPackedGroup)
        expand_group(packed, words + group * kGroupWords * kPanelColumns);
      const bool is_last = first + rows == b.rows && p + 1 == first_panel + panels;
      const float* const next = is_last && b.next != nullptr ? b.next : packed;
      const std::size_t block = 2 * (first / kInt8Block);
      multiply_rows_of<Int8>(a.count,
                             {.a = a.data + first / group_of(Format::kInt8),
                              .a_scales = a.data + a_words + block,
                              .a_stride = a.stride,
                              .panel = words,
                              .scales = scales + block * kPanelColumns,
                              .words = words_in<Int8>(rows),
                              .adds = first > 0},
                             place, [&](std::size_t tile, std::size_t tiles) LATEBIND_INLINE_LAMBDA {
                               const std::size_t packed_part = rows / kFourBitGroup * kPackedGroup / tiles;
                               return Ahead{reinterpret_cast<const char*>(next + tile * packed_part),
                                            kPackedGroup * sizeof(float) / kGroupWords / tiles};
                             });
    }
  }
}

void multiply_int8(const Rows& a, const Panels& b, std::size_t first_panel, std::size_t panels, const float* bias,
                   const MutableRows& y) {
  (b.four_bits ? multiply_four_bits : multiply<Int8>)(a, b, first_panel, panels, bias, y);
}
#endif

// The operands of attention in f32: rows as they are, keys and values in panels.
struct F32Attention {
  using Arithmetic = F32;
  static constexpr bool kConverts = false;
  // Rows of `width` numbers as operands of a product; converted ones are in `scratch`.
  static LATEBIND_INLINE Rows rows_of(const Rows& x, std::size_t /*width*/, float* /*scratch*/) { return x; }
  // The words of a key of `width` numbers from `position` on, with the numbers multiplied by the factor.
  static LATEBIND_INLINE Vector key_words(const float* key, std::size_t position, std::size_t width, float /*factor*/) {
    return load_part(key, position, width);
  }
  // Combines consecutive rows into the words of a panel, one vector of words.
  static LATEBIND_INLINE Vector words(const Vector (&rows)[1]) { return rows[0]; }
};

#if defined(LATEBIND_HAS_BF16) || defined(LATEBIND_HAS_F16)
// The operands of attention in words of two numbers.
template <class PairArithmetic>
struct PairAttention {
  using Arithmetic = PairArithmetic;
  static constexpr bool kConverts = true;
  static LATEBIND_INLINE Rows rows_of(const Rows& x, std::size_t width, float* scratch) {
    // In place, rows keep their distance: they have fewer words than numbers, and panels have room for the scale.
    const std::size_t stride = scratch == x.data ? x.stride : operand_words<Arithmetic>(width);
    convert_pairs<Arithmetic>(x, width, {scratch, x.count, stride});
    return {scratch, x.count, stride};
  }
  static LATEBIND_INLINE Vector key_words(const float* key, std::size_t position, std::size_t width, float factor) {
    return load_pairs<Arithmetic>(key, position, width, factor);
  }
  static LATEBIND_INLINE Vector words(const Vector (&rows)[2]) { return Arithmetic::interleave(rows[0], rows[1]); }
};
#endif

// Stores a vector of words, one for each column from `column` on.
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

// Transposes: lane t of row l becomes lane l of row t. Each step moves the last bit of a number's lane to the front of
// the row's bits, and the last bit of its row to the front of the lane's bits.
#if HWY_TARGET == HWY_SCALAR
LATEBIND_INLINE void transpose(Vector (&/*rows*/)[1]) {}
#else
LATEBIND_INLINE void transpose(Vector (&rows)[kLanes]) {
  constexpr std::size_t kHalf = kLanes / 2;
  LATEBIND_UNROLL
  for (std::size_t moved = 1; moved < kLanes; moved *= 2) {
    Vector next[kLanes];
    LATEBIND_UNROLL
    for (std::size_t i = 0; i < kHalf; ++i) {
      next[i] = hn::ConcatEven(kTag, rows[2 * i + 1], rows[2 * i]);
      next[kHalf + i] = hn::ConcatOdd(kTag, rows[2 * i + 1], rows[2 * i]);
    }
    LATEBIND_UNROLL
    for (std::size_t i = 0; i < kLanes; ++i)
      rows[i] = next[i];
  }
}
#endif

// Packs the keys of `count` tokens from `first` on as the columns of a panel: panel[dimension][token]. Other columns
// are zero.
template <class Attention>
LATEBIND_INLINE void put_keys(const AttentionHead& head, std::size_t first, std::size_t count, float* panel) {
  using Arithmetic = typename Attention::Arithmetic;
  const std::size_t words = words_in<Arithmetic>(head.width);
  const float* key = head.key + first * head.key_stride;
  for (std::size_t column = 0; column < kPanelColumns; column += kLanes, key += kLanes * head.key_stride) {
    const std::size_t here = column < count ? smaller(count - column, kLanes) : 0;
    float factors[kLanes];
    for (std::size_t t = 0; t < kLanes; ++t) {
      factors[t] = 1;
      if constexpr (Arithmetic::kFormat == Format::kF16) {
        const Scaling by = t < here ? scaling_of_row<Arithmetic>(key + t * head.key_stride, head.width) : Scaling{};
        factors[t] = by.factor;
        panel[words * kPanelColumns + column + t] = by.scale;
      }
    }
    for (std::size_t word = 0; word < words; word += kLanes) {
      Vector rows[kLanes];
      LATEBIND_UNROLL
      for (std::size_t t = 0; t < kLanes; ++t) {
        rows[t] =
            t < here ? Attention::key_words(key + t * head.key_stride, word, head.width, factors[t]) : hn::Zero(kTag);
      }
      transpose(rows);
      LATEBIND_UNROLL
      for (std::size_t i = 0; i < kLanes; ++i) {
        if (word + i < words) put_words<Arithmetic>(rows[i], panel, word + i, column);
      }
    }
  }
}

// Packs kLanes dimensions of the head's values, from `first` on, into a panel from `column` on:
// panel[token][dimension].
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

// Applies the soft cap to scores: cap · tanh(u) = 2 cap / (1 + exp(-2u)) - cap. Next to the cap, where scores are
// rounded anyway, the error of this form is small.
LATEBIND_INLINE void cap_scores(const AttentionHead& head, float* scores, std::size_t count) {
  constexpr float kTwiceLog2OfE = 2.8853900817779268F;
  const Vector factor = hn::Set(kTag, -kTwiceLog2OfE * head.scale / head.soft_cap);
  const Vector cap = hn::Set(kTag, head.soft_cap / head.scale);
  const Vector twice = hn::Add(cap, cap);
  const Vector most = hn::Set(kTag, 126.0F);  // the range of power_of_two()
  for_each_vector(scores, count, 0.0F, [&](std::size_t, Vector x) {
    const Vector power = power_of_two(hn::Max(hn::Min(hn::Mul(x, factor), most), hn::Neg(most)));
    const Vector capped = hn::Sub(hn::Div(twice, hn::Add(hn::Set(kTag, 1.0F), power)), cap);
    return hn::IfThenElse(hn::IsNaN(x), x, capped);
  });
}

// Adds the distance terms to a token's scores with all tokens of the text.
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

// Returns the numbers of `row` at the places of a vector of consecutive distances that begins with `distance`. If the
// first and the last distance are exact, the numbers are consecutive; `exact_from` is the place of distance 0.
LATEBIND_INLINE Vector at_places(const HeadPlaces& places, const std::int32_t* of_distance, std::ptrdiff_t distance,
                                 const float* row, std::ptrdiff_t exact_from) {
  constexpr auto kCount = static_cast<std::ptrdiff_t>(kLanes);
  const auto exact = static_cast<std::ptrdiff_t>(places.exact);
  const auto farthest = static_cast<std::ptrdiff_t>(places.farthest);
  if (distance >= -exact && distance + kCount - 1 <= exact) return hn::LoadU(kTag, row + (exact_from + distance));
  const std::int32_t* const all = of_distance + (farthest + static_cast<std::ptrdiff_t>(kPlacesBeyond));
  if (distance >= farthest) return hn::Set(kTag, row[all[farthest]]);
  if (distance + kCount - 1 <= -farthest) return hn::Set(kTag, row[all[-farthest]]);
  return hn::GatherIndex(kTag, row, hn::LoadU(IntTag(), all + distance));
}
static_assert(kLanes <= kPlacesBeyond);

// Returns the panels that hold a range of columns.
struct PanelRange {
  std::size_t first = 0;
  std::size_t count = 0;
};
LATEBIND_INLINE PanelRange panels_of(std::size_t first_column, std::size_t last_column) {
  const std::size_t first = first_column / kPanelColumns;
  return {first, last_column / kPanelColumns + 1 - first};
}

// Returns the table's entry for any distance.
LATEBIND_INLINE std::size_t place_of(const HeadPlaces& places, const std::int32_t* of_distance,
                                     std::ptrdiff_t distance) {
  const auto farthest = static_cast<std::ptrdiff_t>(places.farthest);
  const std::ptrdiff_t near = distance > farthest ? farthest : distance < -farthest ? -farthest : distance;
  return static_cast<std::size_t>(of_distance[near + farthest + static_cast<std::ptrdiff_t>(kPlacesBeyond)]);
}

// Computes products[s] = key s times the table of queries, for all places that occur as distances from key s to the
// tokens of the text. `converted` has room for kScoreRows keys.
template <class Attention>
LATEBIND_INLINE void multiply_keys(const AttentionHead& head, float* converted, float* products) {
  using Arithmetic = typename Attention::Arithmetic;
  const HeadPlaces& places = *head.places;
  const std::size_t stride = up_to_panel(2 * places.span);
  const Panels panels{places.queries, head.width, stride};
  for (std::size_t first = 0; first < head.tokens; first += kScoreRows) {
    if (head.is_over != nullptr && head.is_over(head.context)) return;
    const std::size_t rows = smaller(kScoreRows, head.tokens - first);
    const Rows keys =
        Attention::rows_of({head.key + first * head.key_stride, rows, head.key_stride}, head.width, converted);
    const PanelRange range =
        panels_of(place_of(places, places.of_distance, -static_cast<std::ptrdiff_t>(first + rows - 1)),
                  place_of(places, places.of_distance, static_cast<std::ptrdiff_t>(head.tokens - 1 - first)));
    multiply<Arithmetic>(keys, panels, range.first, range.count, nullptr, {products + first * stride, rows, stride});
  }
}

// Adds these products to the scores of the tokens from `first` on. The products of one key with consecutive tokens are
// mostly consecutive in memory, and are transposed in registers.
LATEBIND_INLINE void add_key_places(const AttentionHead& head, const float* products, std::size_t first,
                                    const MutableRows& scores) {
  const HeadPlaces& places = *head.places;
  const std::size_t stride = up_to_panel(2 * places.span);
  for (std::size_t s = 0; s < head.tokens; s += kLanes) {
    for (std::size_t r = 0; r < scores.count; r += kLanes) {
      Vector block[kLanes];
      LATEBIND_UNROLL
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::ptrdiff_t distance = static_cast<std::ptrdiff_t>(first + r) - static_cast<std::ptrdiff_t>(s + i);
        block[i] = s + i < head.tokens ? at_places(places, places.of_distance, distance, products + (s + i) * stride,
                                                   static_cast<std::ptrdiff_t>(places.span))
                                       : hn::Zero(kTag);
      }
      transpose(block);
      LATEBIND_UNROLL
      for (std::size_t i = 0; i < kLanes; ++i) {
        if (r + i >= scores.count) break;
        float* const to = scores.data + (r + i) * scores.stride + s;
        hn::StoreU(hn::Add(hn::LoadU(kTag, to), block[i]), kTag, to);
      }
    }
  }
}

// Adds the products of the queries from `first` on with the table of keys. `products` has room for kScoreRows rows of
// all places.
template <class Arithmetic>
LATEBIND_INLINE void add_query_places(const AttentionHead& head, const Rows& query, std::size_t first, float* products,
                                      const MutableRows& scores) {
  const HeadPlaces& places = *head.places;
  const std::size_t stride = up_to_panel(2 * places.span);
  const std::int32_t* const columns = places.column_of_distance;
  const PanelRange range = panels_of(
      place_of(places, columns, -static_cast<std::ptrdiff_t>(first + query.count - 1)),
      place_of(places, columns, static_cast<std::ptrdiff_t>(head.tokens - 1) - static_cast<std::ptrdiff_t>(first)));
  multiply<Arithmetic>(query, {places.keys, head.width, stride}, range.first, range.count, nullptr,
                       {products, query.count, stride});
  for (std::size_t r = 0; r < query.count; ++r) {
    float* const row = scores.data + r * scores.stride;
    for (std::size_t s = 0; s < head.tokens; s += kLanes) {
      const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(s) - static_cast<std::ptrdiff_t>(first + r);
      const Vector more =
          at_places(places, columns, ahead, products + r * stride, static_cast<std::ptrdiff_t>(places.span) - 1);
      hn::StoreU(hn::Add(hn::LoadU(kTag, row + s), more), kTag, row + s);
    }
  }
}

// The token after the last one that `token` attends to.
LATEBIND_INLINE std::size_t end_of_sight(const AttentionHead& head, std::size_t token) {
  const std::size_t further = head.causal ? 0 : head.window;
  return head.tokens - token > further ? smaller(token + further + 1, head.keys) : head.keys;
}

// Like soften(), for the scores with those tokens that `token` attends to. The other scores become 0, as does the
// result when it attends to no token.
LATEBIND_INLINE float soften_sight(const AttentionHead& head, std::size_t token, float* scores) {
  const std::size_t end = end_of_sight(head, token);
  const std::size_t first = token > head.window ? smaller(token - head.window, end) : 0;
  for (std::size_t s = 0; s < first; ++s)
    scores[s] = 0.0F;
  for (std::size_t s = end; s < head.tokens; ++s)
    scores[s] = 0.0F;
  return first == end ? 0.0F : soften(scores + first, end - first, head.scale);
}

// The size of the scratch memory: keys and values as panels, queries, scores, and the products of queries and of keys
// with places.
template <class Attention>
std::size_t attention_scratch(std::size_t tokens, std::size_t width, std::size_t places) {
  using Arithmetic = typename Attention::Arithmetic;
  return up_to_panel(tokens) * operand_words<Arithmetic>(width) +
         up_to_panel(width) * operand_words<Arithmetic>(tokens) +
         (Attention::kConverts ? up_to_panel(kScoreRows * operand_words<Arithmetic>(width)) : 0) +
         kScoreRows * up_to_panel(tokens) + (kScoreRows + tokens) * up_to_panel(places);
}

template <class Attention>
std::size_t packed_keys(std::size_t rows, std::size_t width) {
  return up_to_panel(rows) * operand_words<typename Attention::Arithmetic>(width);
}

template <class Attention>
void pack_keys(const Rows& rows, std::size_t width, float* panels) {
  AttentionHead head;
  head.key = rows.data;
  head.key_stride = rows.stride;
  head.tokens = rows.count;
  head.width = width;
  const std::size_t words = operand_words<typename Attention::Arithmetic>(width);
  for (std::size_t first = 0; first < rows.count; first += kPanelColumns)
    put_keys<Attention>(head, first, smaller(rows.count - first, kPanelColumns), panels + first * words);
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
    put_keys<Attention>(head, first, smaller(tokens - first, kPanelColumns), keys + first * key_words);
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
  // The products with places.
  float* const near_queries = scores + kScoreRows * padded_tokens;
  float* const near_keys = near_queries + kScoreRows * up_to_panel(head.places != nullptr ? 2 * head.places->span : 0);
  if (head.places != nullptr && head.places->queries != nullptr) multiply_keys<Attention>(head, queries, near_keys);
  const Panels key_panels{keys, width, tokens};
  const Panels value_panels{values, tokens, width};
  for (std::size_t first = 0; first < tokens; first += kScoreRows) {
    if (head.is_over != nullptr && head.is_over(head.context)) return;
    const std::size_t rows = smaller(kScoreRows, tokens - first);
    const Rows query =
        Attention::rows_of({head.query + first * head.query_stride, rows, head.query_stride}, width, queries);
    // The panels with keys that at least one of these queries attends to.
    const std::size_t nearest = first > head.window ? (first - head.window) / kPanelColumns : 0;
    const std::size_t panels_end = up_to_panel(end_of_sight(head, first + rows - 1)) / kPanelColumns;
    if (nearest < panels_end)
      multiply<Arithmetic>(query, key_panels, nearest, panels_end - nearest, nullptr, {scores, rows, padded_tokens});
    if (head.places != nullptr) {
      const MutableRows all{scores, rows, padded_tokens};
      if (head.places->keys != nullptr) add_query_places<Arithmetic>(head, query, first, near_queries, all);
      if (head.places->queries != nullptr) add_key_places(head, near_keys, first, all);
    }
    float inverse[kScoreRows];
    // Treats all scores of this panel, including padding columns, whose scores are never read.
    const std::size_t seen = nearest < panels_end ? (panels_end - nearest) * kPanelColumns : 0;
    for (std::size_t r = 0; r < rows; ++r) {
      if (head.soft_cap != 0) cap_scores(head, scores + r * padded_tokens + nearest * kPanelColumns, seen);
      if (head.distance_bias != nullptr) add_distances(head, first + r, scores + r * padded_tokens);
      inverse[r] = soften_sight(head, first + r, scores + r * padded_tokens);
    }
    // Converted in place.
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
                              .attention_scratch = attention_scratch<F32Attention>,
                              .pack_keys = pack_keys<F32Attention>,
                              .packed_keys = packed_keys<F32Attention>};
#if defined(LATEBIND_HAS_BF16) || defined(LATEBIND_HAS_F16)
template <class Arithmetic>
constexpr Product kPairProduct{.format = Arithmetic::kFormat,
                               .side_by_side = Arithmetic::kSideBySide,
                               .convert = convert_pairs<Arithmetic>,
                               .multiply = multiply<Arithmetic>,
                               .attend = attend<PairAttention<Arithmetic>>,
                               .attention_scratch = attention_scratch<PairAttention<Arithmetic>>,
                               .pack_keys = pack_keys<PairAttention<Arithmetic>>,
                               .packed_keys = packed_keys<PairAttention<Arithmetic>>};
#endif
#if defined(LATEBIND_HAS_BF16)
constexpr Product kBF16Product = kPairProduct<BF16>;
#endif
#if defined(LATEBIND_HAS_F16)
constexpr Product kF16Product = kPairProduct<F16>;
#endif
#if defined(LATEBIND_HAS_INT8)
// Attention uses another product's operands.
constexpr Product kInt8Product{
    .format = Int8::kFormat, .side_by_side = Int8::kSideBySide, .convert = convert_to_int8, .multiply = multiply_int8};
#endif

}  // namespace
}  // namespace latebind::native
HWY_AFTER_NAMESPACE();
