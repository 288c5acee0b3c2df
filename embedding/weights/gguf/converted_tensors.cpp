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

const ConvertedTensor& ConvertedTensors::tensor_at(std::uint64_t offset) const noexcept {
  return *std::prev(std::ranges::upper_bound(tensors_, offset, {}, &ConvertedTensor::begin));
}

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
    const ConvertedTensor& tensor = tensor_at(offset);
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

bool ConvertedTensors::has_four_bits(std::uint64_t offset, std::uint64_t size) const noexcept {
  if (tensors_.empty()) return false;
  const ConvertedTensor& tensor = tensor_at(offset);
  const std::uint64_t begin = offset - tensor.begin;
  const std::uint64_t block = tensor.type->elements * sizeof(float);
  return tensor.type->take_groups != nullptr && tensor.subtracted == 0 && begin % block == 0 && size % block == 0 &&
         size <= tensor.rows * tensor.columns * sizeof(float) - begin;
}

bool ConvertedTensors::read_four_bits(std::uint64_t offset, std::span<core::FourBitGroup> to) const noexcept {
  constexpr std::uint64_t kNumbers = core::FourBitGroup::kNumbers;
  const ConvertedTensor& tensor = tensor_at(offset);
  const GgufType& type = *tensor.type;
  // A piece has at most this many bytes: the blocks of four-bit types have fewer bytes than numbers.
  std::array<std::byte, kConvertedPiece>
      bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  std::uint64_t element = (offset - tensor.begin) / sizeof(float);
  while (!to.empty()) {
    const std::uint64_t column = element % tensor.columns;
    const std::uint64_t row = stored_row(tensor, element / tensor.columns);
    const std::uint64_t numbers =
        std::min<std::uint64_t>({tensor.columns - column, kConvertedPiece, to.size() * kNumbers});
    const auto piece = std::span(bytes).first(static_cast<std::size_t>(numbers / type.elements) * type.bytes);
    const std::uint64_t block = (row * tensor.columns + column) / type.elements;
    if (!reader_.read(tensor.offset + block * type.bytes, piece)) return false;
    const auto groups = static_cast<std::size_t>(numbers / kNumbers);
    type.take_groups(piece.data(), groups, to.data());
    to = to.subspan(groups);
    element += numbers;
  }
  return true;
}

void ConvertedTensors::compute_all(std::span<std::byte> to) const {
  const std::byte* const all = file_.bytes.bytes.data();
  static_cast<void>(convert(0, to, [all](std::uint64_t at, std::size_t) { return all + at; }));
}

}  // namespace latebind::embedding
