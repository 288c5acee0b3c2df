#include "backends/native/memory/weights.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>

#include "backends/native/memory/four_bits.h"
#include "core/platform/files/page_release.h"
#include "core/tensor/half.h"

namespace latebind::native {
namespace {

using core::ElementType;
using core::Result;
using core::Status;

// Calls set(i, number) for each of `count` numbers from `first` on.
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
    set(i, type == ElementType::kBF16 ? core::from_bf16(bits) : core::from_f16(bits));
  }
}

std::size_t size_at(const core::Shape& shape, std::size_t i) {
  return static_cast<std::size_t>(shape[i]);
}

Result<std::vector<std::byte>> bytes_of(const core::PartReader& file, const graph::Weight& weight) {
  LB_ASSIGN_OR_RETURN(const std::size_t size, core::byte_size_of(weight.type, weight.shape));
  std::vector<std::byte> bytes(size);
  if (!file.read(weight.offset, bytes)) return file.why_not();
  return bytes;
}

// As core::to_bf16(), for the words of kernels.
std::uint32_t to_bf16(float number) {
  return core::to_bf16(number);
}

// As core::to_f16() for magnitudes up to 16, with which packing needs no branch. Without their sign, numbers are
// ordered like their bits.
std::uint32_t to_f16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t positive = bits & 0x7FFFFFFFU;
  constexpr std::uint32_t kBiases = 127 - 15;
  if (positive < (kBiases + 1) << 23) {
    // A subnormal result: adding this constant rounds to its step.
    constexpr float kRounding = 0.5F;
    return sign | (std::bit_cast<std::uint32_t>(std::bit_cast<float>(positive) + kRounding) -
                   std::bit_cast<std::uint32_t>(kRounding));
  }
  return sign | (((positive + 0xFFFU + (positive >> 13 & 1U)) >> 13) - (kBiases << 10));
}

// Consecutive numbers of a matrix column, at most kInt8Block.
struct ColumnPart {
  std::array<float, kInt8Block> numbers{};
  std::size_t count = 0;
};

// The largest magnitude of a part as bits. Bits are ordered like numbers, with infinity and NaN as the largest.
std::uint32_t largest_bits(const ColumnPart& run) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < run.count; ++i)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(run.numbers[i]) & 0x7FFFFFFFU);
  return largest;
}

// Writes the words of a part to their places in a column of a panel, beginning with the first of the adjacent words.
// Numbers beyond the part in its last word are 0.
class Words {
 public:
  Words(float* first, std::size_t panel_columns, std::size_t side_by_side)
      : at_(first), side_by_side_(side_by_side), step_((panel_columns - 1) * side_by_side + 1) {}

  void put(std::uint32_t word) {
    std::memcpy(at_, &word, sizeof word);
    const bool is_last = ++put_ == side_by_side_;
    at_ += is_last ? step_ : 1;
    if (is_last) put_ = 0;
  }

 private:
  float* at_;
  std::size_t side_by_side_;
  std::size_t step_;     // from the last adjacent word to the first of the next ones
  std::size_t put_ = 0;  // number of adjacent words written so far
};

void pack_f32(const ColumnPart& run, Words words) {
  for (std::size_t i = 0; i < run.count; ++i)
    words.put(std::bit_cast<std::uint32_t>(run.numbers[i]));
}

void pack_bf16(const ColumnPart& run, Words words) {
  for (std::size_t i = 0; i < run.count; i += 2)
    words.put(to_bf16(run.numbers[i]) | (i + 1 < run.count ? to_bf16(run.numbers[i + 1]) << 16 : 0));
}

// Multiplies the numbers by the factor of their column.
void pack_f16(const ColumnPart& run, Words words, float factor) {
  for (std::size_t i = 0; i < run.count; i += 2) {
    words.put(to_f16(run.numbers[i] * factor) | (i + 1 < run.count ? to_f16(run.numbers[i + 1] * factor) << 16 : 0));
  }
}

// Packs a block of a column in the form of kernels.h; `scale` and `sum` are the block's.
void pack_int8(const ColumnPart& run, Words words, float& scale, float& sum) {
  constexpr float kLargest = 127;  // of the bytes, which begin at -kLargest
  constexpr std::uint32_t kInfinity = 0x7F800000;
  const std::uint32_t bits = largest_bits(run);
  const bool is_finite = bits < kInfinity;
  const float largest = std::bit_cast<float>(bits);
  // A number so small that the factor overflows counts as 0.
  const bool is_scaled = is_finite && kLargest / largest < std::numeric_limits<float>::infinity();
  const float factor = is_scaled ? kLargest / largest : 0;
  // Adding and subtracting this constant rounds a small number.
  constexpr float kRounding = 0x1.8p23F;
  std::array<std::int32_t, kInt8Block> bytes{};
  std::int32_t total = 0;
  for (std::size_t i = 0; is_finite && i < run.count; ++i) {
    bytes[i] = static_cast<std::int32_t>((run.numbers[i] * factor + kRounding) - kRounding);
    total += bytes[i];
  }
  constexpr std::size_t kGroup = group_of(Format::kInt8);
  for (std::size_t i = 0; i < run.count; i += kGroup) {
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < kGroup; ++j)
      word |= (static_cast<std::uint32_t>(bytes[i + j]) & 0xFFU) << (8 * j);
    words.put(word);
  }
  // A column with a NaN or an infinite number must give NaN.
  scale = is_finite ? largest / kLargest : std::numeric_limits<float>::quiet_NaN();
  sum = static_cast<float>(total);
}

}  // namespace

WeightFiles::WeightFiles(const graph::Graph& graph) {
  for (const core::FilePart& part : graph.weights())
    readers_.push_back(std::make_shared<const core::PartReader>(part));
}

Result<std::vector<float>> WeightFiles::numbers(const graph::Weight& weight) const {
  LB_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, bytes_of(*of(weight), weight));
  std::vector<float> numbers(bytes.size() / core::size_of(weight.type));
  read(bytes, weight.type, 0, numbers.size(), [&](std::size_t i, float number) { numbers[i] = number; });
  return numbers;
}

Table::Table(const graph::Weight& weight)
    : offset_(weight.offset), type_(weight.type), rows_(size_at(weight.shape, 0)), width_(size_at(weight.shape, 1)) {}

Result<Table> Table::make(const WeightFiles& files, const graph::Weight& weight) {
  Table table(weight);
  table.file_ = files.of(weight);
  // A table up to this size is copied: it needs less memory than the rest of a model, most are position tables, and
  // each token reads one row.
  constexpr std::size_t kSmall = std::size_t{4} << 20;
  if (table.rows_ * table.width_ * core::size_of(table.type_) <= kSmall) {
    LB_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, bytes_of(*table.file_, weight));
    table.copy_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    table.file_.reset();
  }
  return table;
}

template <class Set>
bool Table::read_row(std::size_t row, const Set& set) const noexcept {
  if (copy_) {
    read(*copy_, type_, row * width_, width_, set);
    return true;
  }
  // One piece at a time.
  constexpr std::size_t kPiece = 1024;
  std::array<std::byte, kPiece * sizeof(float)> bytes{};
  const std::size_t size = core::size_of(type_);
  for (std::size_t first = 0; first < width_; first += kPiece) {
    const std::size_t count = std::min(kPiece, width_ - first);
    const std::span piece = std::span(bytes).first(count * size);
    if (!file_->read(offset_ + (std::uint64_t{row} * width_ + first) * size, piece)) return false;
    read(piece, type_, 0, count, [&](std::size_t i, float number) { set(first + i, number); });
  }
  return true;
}

bool Table::copy_row(std::size_t row, float* to) const noexcept {
  return read_row(row, [to](std::size_t i, float number) { to[i] = number; });
}

bool Table::add_row(std::size_t row, float* to) const noexcept {
  return read_row(row, [to](std::size_t i, float number) { to[i] += number; });
}

std::size_t PackedMatrices::add(const graph::Weight& weight, const WeightFiles& files, bool is_transposed) {
  const auto known = std::ranges::find_if(matrices_, [&](const Matrix& one) {
    return graph::is_same(one.weight, weight) && one.is_transposed == is_transposed;
  });
  if (known != matrices_.end()) return static_cast<std::size_t>(known - matrices_.begin());
  Matrix matrix{.weight = weight,
                .is_transposed = is_transposed,
                .rows = size_at(weight.shape, is_transposed ? 0 : 1),
                .columns = size_at(weight.shape, is_transposed ? 1 : 0)};
  matrix.four_bits =
      product_.format == Format::kInt8 && !is_transposed && matrix.rows % kFourBitGroup == 0 &&
      files.of(weight)->has_four_bits(weight.offset, matrix.rows * matrix.columns * core::size_of(weight.type));
  const std::size_t panels = panel_count(matrix.columns, kernels_);
  matrix.offset = size_;
  matrix.first_panel = panels_;
  size_ += panels * kernels_.panel_columns * product_.column_words(matrix.rows, matrix.four_bits);
  // Each matrix begins at a cache line.
  constexpr std::size_t kLine = kAlignment / sizeof(float);
  size_ = (size_ + kLine - 1) / kLine * kLine;
  panels_ += panels;
  matrices_.push_back(std::move(matrix));
  return matrices_.size() - 1;
}

Status PackedMatrices::pack(const graph::Graph& graph, const WeightFiles& files, std::size_t threads,
                            const std::function<void(std::size_t panels, const Part& part)>& share) {
  memory_.reserve(size_);
  const platform::FilePages pages(bytes_in_memory(graph, files));
  std::size_t largest = 0;
  std::size_t most_groups = 0;
  for (const Matrix& matrix : matrices_) {
    if (matrix.four_bits) {
      most_groups = std::max(most_groups, groups_in(matrix, 0));
    } else if (!files.of(matrix.weight)->in_memory()) {
      largest = std::max(largest, size_of(matrix, 0));
    }
  }
  // The memory that each thread reads a file into.
  std::vector<std::vector<std::byte>> buffers(threads, std::vector<std::byte>(largest));
  std::vector<std::vector<core::FourBitGroup>> group_buffers(threads, std::vector<core::FourBitGroup>(most_groups));
  std::vector<std::atomic<std::size_t>> missing(matrices_.size());  // panels of each matrix that are not packed yet
  for (std::size_t i = 0; i < matrices_.size(); ++i)
    missing[i] = panel_count(matrices_[i].columns, kernels_);
  std::atomic<const core::PartReader*> cut{nullptr};
  share(panels_, [&](std::size_t number, std::size_t thread) {
    if (cut.load(std::memory_order_relaxed) != nullptr) return;
    const auto after = std::ranges::upper_bound(matrices_, number, {}, &Matrix::first_panel);
    const Matrix& matrix = *std::prev(after);
    const std::size_t panel = number - matrix.first_panel;
    const core::PartReader& file = *files.of(matrix.weight);
    if (matrix.four_bits) {
      const std::span groups = std::span(group_buffers[thread]).first(groups_in(matrix, panel));
      if (!pack_groups(file, matrix, panel, groups)) cut.store(&file, std::memory_order_relaxed);
      return;
    }
    if (const auto all = file.in_memory()) {
      const std::uint64_t offset = matrix.weight.offset + offset_of(matrix, panel);
      pack_panel(matrix, panel, all->subspan(static_cast<std::size_t>(offset)), matrix.columns);
      // Released immediately, so that the file's pages and the panels are never in memory together.
      if (missing[static_cast<std::size_t>(after - matrices_.begin()) - 1].fetch_sub(1, std::memory_order_relaxed) == 1)
        pages.release(graph.bytes_of(matrix.weight));
      return;
    }
    const std::span bytes = std::span(buffers[thread]).first(size_of(matrix, panel));
    if (read_panel(file, matrix, panel, bytes)) {
      pack_panel(matrix, panel, bytes, bytes.size() / matrix.rows / core::size_of(matrix.weight.type));
    } else {
      cut.store(&file, std::memory_order_relaxed);
    }
  });
  const core::PartReader* const is_cut = cut.load(std::memory_order_relaxed);
  return is_cut != nullptr ? is_cut->why_not() : Status();
}

std::span<const std::byte> PackedMatrices::bytes_in_memory(const graph::Graph& graph, const WeightFiles& files) const {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  for (const Matrix& matrix : matrices_) {
    if (!files.of(matrix.weight)->in_memory()) continue;
    const auto bytes = graph.bytes_of(matrix.weight);
    const std::less<> is_before;
    if (begin == nullptr || is_before(bytes.data(), begin)) begin = bytes.data();
    if (end == nullptr || is_before(end, bytes.data() + bytes.size())) end = bytes.data() + bytes.size();
  }
  return {begin, end};
}

std::size_t PackedMatrices::offset_of(const Matrix& matrix, std::size_t panel) const {
  const std::size_t numbers = panel * kernels_.panel_columns * (matrix.is_transposed ? 1 : matrix.rows);
  return numbers * core::size_of(matrix.weight.type);
}

std::size_t PackedMatrices::size_of(const Matrix& matrix, std::size_t panel) const {
  const std::size_t columns = std::min(kernels_.panel_columns, matrix.columns - panel * kernels_.panel_columns);
  return columns * matrix.rows * core::size_of(matrix.weight.type);
}

std::size_t PackedMatrices::groups_in(const Matrix& matrix, std::size_t panel) const {
  return size_of(matrix, panel) / core::size_of(matrix.weight.type) / kFourBitGroup;
}

bool PackedMatrices::pack_groups(const core::PartReader& file, const Matrix& matrix, std::size_t panel,
                                 std::span<core::FourBitGroup> groups) const {
  if (!file.read_four_bits(matrix.weight.offset + offset_of(matrix, panel), groups)) return false;
  const std::size_t size = kernels_.panel_columns * product_.column_words(matrix.rows, true);
  pack_four_bits(groups, {.data = memory_.data() + matrix.offset + panel * size,
                          .rows = matrix.rows,
                          .panel_columns = kernels_.panel_columns,
                          .side_by_side = product_.side_by_side});
  return true;
}

bool PackedMatrices::read_panel(const core::PartReader& file, const Matrix& matrix, std::size_t panel,
                                std::span<std::byte> to) const {
  std::uint64_t offset = matrix.weight.offset + offset_of(matrix, panel);
  if (!matrix.is_transposed) return file.read(offset, to);
  const std::size_t size = to.size() / matrix.rows;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    if (!file.read(offset, to.subspan(row * size, size))) return false;
    offset += matrix.columns * core::size_of(matrix.weight.type);
  }
  return true;
}

void PackedMatrices::pack_panel(const Matrix& matrix, std::size_t panel, std::span<const std::byte> bytes,
                                std::size_t stride) const {
  const std::size_t width = kernels_.panel_columns;
  const std::size_t columns = std::min(width, matrix.columns - panel * width);
  const std::size_t size = width * product_.operand_words(matrix.rows);
  const std::size_t group = group_of(product_.format);
  float* const to = memory_.data() + matrix.offset + panel * size;
  float* const scales = to + product_.words(matrix.rows) * width;
  // Clears what lies beyond the last column or the last number.
  if (columns < width || product_.words(matrix.rows) * group > matrix.rows) std::fill_n(to, size, 0.0F);
  const auto read_run = [&](std::size_t column, std::size_t row) {
    ColumnPart run;
    run.count = std::min(kInt8Block, matrix.rows - row);
    const auto put = [&](std::size_t i, float number) { run.numbers[i] = number; };
    if (!matrix.is_transposed) {
      read(bytes, matrix.weight.type, column * matrix.rows + row, run.count, put);
      return run;
    }
    for (std::size_t i = 0; i < run.count; ++i)
      read(bytes, matrix.weight.type, (row + i) * stride + column, 1,
           [&](std::size_t, float number) { put(i, number); });
    return run;
  };
  // Not on the heap: a thread of the team could not report that memory has run out.
  std::array<float, kPanelColumnsMost> factors{};
  if (product_.format == Format::kF16) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::uint32_t largest = 0;
      for (std::size_t row = 0; row < matrix.rows; row += kInt8Block)
        largest = std::max(largest, largest_bits(read_run(column, row)));
      const F16Scale by = f16_scale_of(largest);
      factors[column] = std::bit_cast<float>(by.factor);
      scales[column] = std::bit_cast<float>(by.scale);
    }
  }
  // A few rows at a time, so that their cache lines are filled while they are present.
  for (std::size_t row = 0; row < matrix.rows; row += kInt8Block) {
    for (std::size_t column = 0; column < columns; ++column) {
      const ColumnPart run = read_run(column, row);
      const std::size_t place = place_of_word(row / group, column, width, product_.side_by_side);
      const Words words(to + place, width, product_.side_by_side);
      switch (product_.format) {
        case Format::kF32:
          pack_f32(run, words);
          break;
        case Format::kBF16:
          pack_bf16(run, words);
          break;
        case Format::kF16:
          pack_f16(run, words, factors[column]);
          break;
        case Format::kInt8: {
          float* const block = scales + 2 * (row / kInt8Block) * width + column;
          pack_int8(run, words, block[0], block[width]);
          break;
        }
      }
    }
  }
}

}  // namespace latebind::native
