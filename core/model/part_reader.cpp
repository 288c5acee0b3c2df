#include "core/model/part_reader.h"

#include <algorithm>
#include <utility>

namespace latebind::core {

PartReader::PartReader(const FilePart& part) : offset_(part.where.offset), computed_(part.computed) {
  if (computed_) return;
  if (!part.where.file.empty()) {
    if (auto file = platform::FileReader::open(part.where.file, part.identity); file.ok()) file_ = *std::move(file);
  }
  if (!file_) bytes_ = part.bytes;
}

bool PartReader::read(std::uint64_t offset, std::span<std::byte> to) const noexcept {
  if (computed_) return computed_->read(offset, to);
  if (file_) return file_->read(offset_ + offset, to);
  std::ranges::copy(bytes_.bytes.subspan(static_cast<std::size_t>(offset), to.size()), to.begin());
  return true;
}

bool PartReader::has_four_bits(std::uint64_t offset, std::uint64_t size) const noexcept {
  return computed_ && computed_->has_four_bits(offset, size);
}

bool PartReader::read_four_bits(std::uint64_t offset, std::span<FourBitGroup> to) const noexcept {
  return computed_ && computed_->read_four_bits(offset, to);
}

Status PartReader::why_not() const {
  if (computed_) return computed_->why_not();
  return file_ ? file_->why_not() : Status();
}

std::optional<std::span<const std::byte>> PartReader::in_memory() const {
  return file_ || computed_ ? std::nullopt : std::optional(bytes_.bytes);
}

}  // namespace latebind::core
