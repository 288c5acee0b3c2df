#include "backends/native/memory/four_bits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace latebind::native {
namespace {

using core::FourBitGroup;

static_assert(FourBitGroup::kNumbers == kFourBitGroup && kInt8Block % kFourBitGroup == 0);

constexpr std::size_t kGroupsInBlock = kInt8Block / kFourBitGroup;

unsigned code_at(const FourBitGroup& group, std::size_t i) {
  const unsigned byte = group.codes[i % group.codes.size()];
  return i < group.codes.size() ? byte & 15U : byte >> 4U;
}

// The smallest and the largest code that occur.
struct CodeRange {
  unsigned least = 15;
  unsigned most = 0;
};
CodeRange range_of(const FourBitGroup& group) {
  CodeRange range;
  for (std::size_t i = 0; i < kFourBitGroup; ++i) {
    range.least = std::min(range.least, code_at(group, i));
    range.most = std::max(range.most, code_at(group, i));
  }
  return range;
}

float number_of(const FourBitGroup& group, unsigned code) {
  return group.least + group.step * static_cast<float>(code);
}

// A line from codes to bytes, as in kernels.h.
struct Line {
  std::uint32_t factor = 0;  // both have 16 bits
  std::uint32_t offset = 0;

  [[nodiscard]] std::int8_t byte(unsigned code) const {
    return static_cast<std::int8_t>(static_cast<std::uint8_t>((factor * code + offset) >> 8U & 0xFFU));
  }
};

// The line that multiplies numbers by `scale`. The results are magnitudes up to 127.
Line line_of(const FourBitGroup& group, const CodeRange& range, float scale) {
  constexpr float kSteps = 256;
  constexpr std::uint32_t kHalf = 128;  // so that the shift rounds
  constexpr std::uint32_t kBits = 0xFFFF;
  const auto whole = [](float number) { return static_cast<std::uint32_t>(std::lrint(number)); };
  Line line;
  if (range.most > range.least) line.factor = whole(group.step * scale * kSteps) & kBits;
  const std::uint32_t first = whole(number_of(group, range.least) * scale * kSteps);
  line.offset = (first + kHalf - line.factor * range.least) & kBits;
  return line;
}

// The places of a column's words in a group of the panel.
class ColumnWords {
 public:
  ColumnWords(const FourBitPanel& panel, std::size_t group, std::size_t column)
      : panel_(panel), first_(panel.data + group * (kFourBitCodes + 1) * panel.panel_columns), column_(column) {}

  // The codes of numbers 4 · word to 4 · word + 3 are the low halves, those of the second half of the group the high
  // ones.
  void put_codes(std::size_t word, std::uint32_t codes) const {
    put(place_of_word(word, column_, panel_.panel_columns, panel_.side_by_side), codes);
  }
  void put_line(const Line& line) const {
    put(kFourBitCodes * panel_.panel_columns + column_, line.factor | line.offset << 16U);
  }

 private:
  void put(std::size_t place, std::uint32_t word) const { std::memcpy(first_ + place, &word, sizeof word); }

  const FourBitPanel& panel_;
  float* first_;
  std::size_t column_;
};

// Packs a block of a column; `scale` and `sum` are the block's.
void pack_block(std::span<const FourBitGroup> groups, const FourBitPanel& panel, std::size_t first, std::size_t column,
                float& scale, float& sum) {
  constexpr float kLargest = 127;
  std::array<CodeRange, kGroupsInBlock> ranges{};
  float largest = 0;
  bool is_finite = true;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    ranges[i] = range_of(groups[i]);
    for (const unsigned code : {ranges[i].least, ranges[i].most}) {
      const float number = std::fabs(number_of(groups[i], code));
      is_finite = is_finite && std::isfinite(number);
      largest = std::max(largest, number);
    }
  }
  // Numbers so small that the factor overflows count as 0.
  const bool is_scaled = is_finite && kLargest * 256 / largest < std::numeric_limits<float>::infinity();
  std::int32_t total = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Line line = is_scaled ? line_of(groups[i], ranges[i], kLargest / largest) : Line{};
    const ColumnWords to(panel, first + i, column);
    to.put_line(line);
    for (std::size_t word = 0; word < kFourBitCodes; ++word) {
      std::uint32_t codes = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t at = 4 * word + k;
        codes |= (code_at(groups[i], at) | code_at(groups[i], at + kFourBitGroup / 2) << 4U) << (8 * k);
      }
      to.put_codes(word, codes);
    }
    for (std::size_t k = 0; k < kFourBitGroup; ++k)
      total += line.byte(code_at(groups[i], k));
  }
  // A column with a NaN or an infinite number must give NaN.
  scale = is_finite ? largest / kLargest : std::numeric_limits<float>::quiet_NaN();
  sum = static_cast<float>(total);
}

}  // namespace

void pack_four_bits(std::span<const FourBitGroup> groups, const FourBitPanel& panel) {
  const std::size_t in_column = panel.rows / kFourBitGroup;
  const std::size_t width = panel.panel_columns;
  const std::size_t columns = groups.size() / in_column;
  float* const scales = panel.data + four_bit_words(panel.rows) * width;
  if (columns < width) {
    const std::size_t words = four_bit_words(panel.rows) + words_after(panel.rows, Format::kInt8);
    std::fill_n(panel.data, words * width, 0.0F);
  }
  // A few rows at a time, so that their cache lines are filled while they are present.
  for (std::size_t first = 0; first < in_column; first += kGroupsInBlock) {
    for (std::size_t column = 0; column < columns; ++column) {
      float* const block = scales + 2 * (first / kGroupsInBlock) * width + column;
      const auto here = groups.subspan(column * in_column + first, std::min(kGroupsInBlock, in_column - first));
      pack_block(here, panel, first, column, block[0], block[width]);
    }
  }
}

}  // namespace latebind::native
