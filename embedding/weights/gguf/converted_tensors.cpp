#include "embedding/weights/gguf/converted_tensors.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace latebind::embedding {
namespace {

// How many numbers are converted at a time: a multiple of every type's block size.
constexpr std::size_t kConvertedPiece = 4 * kGgufBlockMax;

std::uint64_t stored_row(const ConvertedTensor& tensor, std::uint64_t row) {
  if (tensor.interleaved_heads == 0) return row;
  const std::uint64_t width = tensor.rows / tensor.interleaved_heads;
  const std::uint64_t in_head = row % width;
  const std::uint64_t half = in_head / (width / 2);
  return row - in_head + in_head % (width / 2) * 2 + half;
}

}  // namespace

template <class Blocks>
bool ConvertedTensors::convert_row(const ConvertedTensor& tensor, std::uint64_t row, std::uint64_t column,
                                   std::span<std::byte> to, const Blocks& blocks) noexcept {
  const GgufType& type = *tensor.type;
  const std::uint64_t row_start = tensor.offset + row * (tensor.columns / type.elements) * type.bytes;
  std::array<float, kConvertedPiece>
      numbers;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  while (!to.empty()) {
    const std::uint64_t first = column / type.elements * type.elements;
    const std::uint64_t end = std::min<std::uint64_t>(tensor.columns, first + kConvertedPiece);
    const auto count = static_cast<std::size_t>((end - first) / type.elements);
    const std::byte* const from = blocks(row_start + first / type.elements * type.bytes, count * type.bytes);
    if (from == nullptr) return false;
    type.dequantize(from, count, numbers.data());
    const auto skipped = static_cast<std::size_t>(column - first);
    const std::size_t taken = std::min(to.size() / sizeof(float), static_cast<std::size_t>(end - first) - skipped);
    if (tensor.subtracted != 0) {
      for (std::size_t i = 0; i < taken; ++i)
        numbers[skipped + i] -= tensor.subtracted;
    }
    std::memcpy(to.data(), numbers.data() + skipped, taken * sizeof(float));
    to = to.subspan(taken * sizeof(float));
    column += taken;
  }
  return true;
}

template <class Blocks>
bool ConvertedTensors::convert(std::uint64_t offset, std::span<std::byte> to, const Blocks& blocks) const noexcept {
  while (!to.empty()) {
    const auto after = std::ranges::upper_bound(tensors_, offset, {}, &ConvertedTensor::begin);
    const ConvertedTensor& tensor = *std::prev(after);
    const std::uint64_t element = (offset - tensor.begin) / sizeof(float);
    const std::uint64_t column = element % tensor.columns;
    const std::uint64_t wanted = std::min<std::uint64_t>(to.size() / sizeof(float), tensor.columns - column);
    const std::span part = to.first(static_cast<std::size_t>(wanted) * sizeof(float));
    if (!convert_row(tensor, stored_row(tensor, element / tensor.columns), column, part, blocks)) return false;
    to = to.subspan(part.size());
    offset += part.size();
  }
  return true;
}

bool ConvertedTensors::read(std::uint64_t offset, std::span<std::byte> to) const noexcept {
  std::array<std::byte, kConvertedPiece * sizeof(float)>
      bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): likewise
  return convert(offset, to, [&](std::uint64_t at, std::size_t size) -> const std::byte* {
    return reader_.read(at, std::span(bytes).first(size)) ? bytes.data() : nullptr;
  });
}

void ConvertedTensors::compute_all(std::span<std::byte> to) const {
  const std::byte* const all = file_.bytes.bytes.data();
  static_cast<void>(convert(0, to, [all](std::uint64_t at, std::size_t) { return all + at; }));
}

}  // namespace latebind::embedding
