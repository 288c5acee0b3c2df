#include "backends/native/memory/weights.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

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
  size_ += panels * kernels_.panel_columns * matrix.rows;
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
  const std::size_t first = (panel - matrix.first_panel) * kernels_.panel_columns;
  const std::size_t columns = std::min(kernels_.panel_columns, matrix.columns - first);
  float* const to = memory_.data() + matrix.offset + first * matrix.rows;
  // A few rows at a time, whose cache lines are filled before they are left.
  constexpr std::size_t kRows = 64;
  for (std::size_t begin = 0; begin < matrix.rows; begin += kRows) {
    const std::size_t rows = std::min(kRows, matrix.rows - begin);
    float* const part = to + begin * kernels_.panel_columns;
    for (std::size_t column = 0; column < columns; ++column) {
      read(bytes, matrix.weight.type, (first + column) * matrix.rows + begin, rows,
           [&](std::size_t k, float number) { part[k * kernels_.panel_columns + column] = number; });
    }
    for (std::size_t k = 0; columns < kernels_.panel_columns && k < rows; ++k) {
      std::fill(part + k * kernels_.panel_columns + columns, part + (k + 1) * kernels_.panel_columns, 0.0F);
    }
  }
}

}  // namespace latebind::native
