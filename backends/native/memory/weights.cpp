#include "backends/native/memory/weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/platform/files/page_release.h"

namespace latebind::native {
namespace {

using core::ElementType;

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Exact: every f16 is an f32.
float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  constexpr float kSmallest = 1.0F / (1 << 24);  // the step of subnormal numbers
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * kSmallest) | sign);
}

// Calls set(i, number) for `count` numbers from the `first` on.
template <class Set>
void read(std::span<const std::byte> bytes, ElementType type, std::size_t first, std::size_t count, const Set& set) {
  if (type == ElementType::kF32) {
    const std::byte* from = bytes.data() + first * sizeof(float);
    for (std::size_t i = 0; i < count; ++i, from += sizeof(float)) {
      float number = 0;
      std::memcpy(&number, from, sizeof number);
      set(i, number);
    }
    return;
  }
  const std::byte* from = bytes.data() + first * sizeof(std::uint16_t);
  for (std::size_t i = 0; i < count; ++i, from += sizeof(std::uint16_t)) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    set(i, type == ElementType::kBF16 ? from_bf16(bits) : from_f16(bits));
  }
}

std::size_t size_at(const core::Shape& shape, std::size_t i) {
  return static_cast<std::size_t>(shape[i]);
}

std::uint16_t to_bf16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  // A NaN stays one.
  if (number != number) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  // To the nearest, of two as near to the even one.
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

// Element `row` of a column of a panel, where a word has as many elements as are in 32 bits.
template <class Element>
void put(float* panel, std::size_t panel_columns, std::size_t column, std::size_t row, Element element) {
  constexpr std::size_t kGroup = sizeof(float) / sizeof(Element);
  std::memcpy(
      reinterpret_cast<std::byte*>(panel + row / kGroup * panel_columns + column) + row % kGroup * sizeof(Element),
      &element, sizeof element);
}

// Numbers of a column of a matrix that follow each other, from `row` on.
struct Run {
  std::span<const std::byte> bytes;
  ElementType type;
  std::size_t first = 0;  // of the matrix
  std::size_t count = 0;
  std::size_t row = 0;
  std::size_t column = 0;  // of the panel

  // Calls set(row, number) for each.
  template <class Set>
  void for_each(const Set& set) const {
    read(bytes, type, first, count, [&](std::size_t i, float number) { set(row + i, number); });
  }
};

// A block of a column, as kernels.h has it. `scales` is the block's.
void pack_int8(const Run& run, float* panel, std::size_t panel_columns, float* scales) {
  constexpr float kLargest = 127;  // of the bytes, which are from -kLargest on
  float largest = 0;
  bool is_finite = true;
  run.for_each([&](std::size_t, float number) {
    largest = std::max(largest, std::abs(number));
    is_finite = is_finite && std::isfinite(number);
  });
  const float factor = is_finite && largest > 0 ? kLargest / largest : 0;
  float sum = 0;
  run.for_each([&](std::size_t row, float number) {
    const float steps = std::nearbyint(number * factor);
    const auto byte = static_cast<std::int8_t>(std::isfinite(steps) ? steps : 0);
    put(panel, panel_columns, run.column, row, byte);
    sum += static_cast<float>(byte);
  });
  // What is computed with a number that is none must not look like one.
  scales[run.column] = is_finite ? largest / kLargest : std::numeric_limits<float>::quiet_NaN();
  scales[panel_columns + run.column] = sum;
}

}  // namespace

Table::Table(const graph::Graph& graph, const graph::Weight& weight)
    : bytes_(graph.bytes_of(weight)),
      type_(weight.type),
      rows_(size_at(weight.shape, 0)),
      width_(size_at(weight.shape, 1)) {}

void Table::copy_row(std::size_t row, float* to) const {
  read(bytes_, type_, row * width_, width_, [to](std::size_t i, float number) { to[i] = number; });
}

void Table::add_row(std::size_t row, float* to) const {
  read(bytes_, type_, row * width_, width_, [to](std::size_t i, float number) { to[i] += number; });
}

std::vector<float> read_weight(const graph::Graph& graph, const graph::Weight& weight) {
  const auto bytes = graph.bytes_of(weight);
  std::vector<float> numbers(bytes.size() / core::size_of(weight.type));
  read(bytes, weight.type, 0, numbers.size(), [&](std::size_t i, float number) { numbers[i] = number; });
  return numbers;
}

std::size_t PackedMatrices::add(const graph::Weight& weight) {
  Matrix matrix{.weight = weight, .rows = size_at(weight.shape, 1), .columns = size_at(weight.shape, 0)};
  const std::size_t panels = panel_count(matrix.columns, kernels_);
  matrix.offset = size_;
  matrix.first_panel = panels_;
  size_ += panels * kernels_.panel_columns * product_.operand_words(matrix.rows);
  // Each begins at a cache line.
  constexpr std::size_t kLine = kAlignment / sizeof(float);
  size_ = (size_ + kLine - 1) / kLine * kLine;
  panels_ += panels;
  matrices_.push_back(std::move(matrix));
  return matrices_.size() - 1;
}

void PackedMatrices::pack(const graph::Graph& graph,
                          const std::function<void(std::size_t panels, const Part& part)>& share) {
  memory_.reserve(size_);
  share(panels_, [&](std::size_t panel) { pack_panel(graph, panel); });
  for (const Matrix& matrix : matrices_)
    platform::release_pages(graph.bytes_of(matrix.weight));
}

void PackedMatrices::pack_panel(const graph::Graph& graph, std::size_t panel) const {
  const auto after = std::ranges::upper_bound(matrices_, panel, {}, &Matrix::first_panel);
  const Matrix& matrix = *std::prev(after);
  const auto bytes = graph.bytes_of(matrix.weight);
  const std::size_t width = kernels_.panel_columns;
  const std::size_t first = (panel - matrix.first_panel) * width;
  const std::size_t columns = std::min(width, matrix.columns - first);
  const std::size_t size = width * product_.operand_words(matrix.rows);
  float* const to = memory_.data() + matrix.offset + (panel - matrix.first_panel) * size;
  // What is beyond the last column or number.
  if (columns < width || product_.group > 1) std::fill_n(to, size, 0.0F);
  // A few rows at a time, whose cache lines are filled before they are left.
  const std::size_t run_rows = product_.group == kInt8Group ? kInt8Block : 64;
  for (std::size_t row = 0; row < matrix.rows; row += run_rows) {
    for (std::size_t column = 0; column < columns; ++column) {
      const Run run{.bytes = bytes,
                    .type = matrix.weight.type,
                    .first = (first + column) * matrix.rows + row,
                    .count = std::min(run_rows, matrix.rows - row),
                    .row = row,
                    .column = column};
      if (product_.group == 1) {
        run.for_each([&](std::size_t k, float number) { to[k * width + column] = number; });
      } else if (product_.group == kInt8Group) {
        const std::size_t words_before = words_of(matrix.rows, kInt8Group) + 2 * (row / kInt8Block);
        pack_int8(run, to, width, to + words_before * width);
      } else {
        run.for_each([&](std::size_t k, float number) { put(to, width, column, k, to_bf16(number)); });
      }
    }
  }
}

}  // namespace latebind::native
