// ConvertedTensors: tensors of a GGUF file as f32, computed from its blocks when they are read. The file stays mapped,
// and only what is read is in memory. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/part_reader.h"
#include "core/tensor/computed_bytes.h"
#include "core/tensor/shared_bytes.h"
#include "embedding/weights/gguf/types.h"

namespace latebind::embedding {

// How a tensor's numbers become those that a network expects.
struct ConvertedTensor {
  const GgufType* type = nullptr;  // one that is read
  std::uint64_t offset = 0;        // in the file, which has all of its blocks
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;  // a whole number of blocks
  // The rows of each head are stored as the first of either half, the second of either half, and so on. 0: they are
  // stored as they are; else it divides `rows` into parts of even size.
  std::size_t interleaved_heads = 0;
  float subtracted = 0.0F;  // from each number
  std::uint64_t begin = 0;  // its place in the bytes
};

class ConvertedTensors final : public core::ComputedBytes {
 public:
  // The tensors follow each other in the order of `begin`, without gaps. Throws std::bad_alloc.
  ConvertedTensors(core::FilePart file, std::vector<ConvertedTensor> tensors, std::size_t size)
      : ComputedBytes(size), file_(std::move(file)), reader_(file_), tensors_(std::move(tensors)) {}

  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept override;
  [[nodiscard]] core::Status why_not() const override { return reader_.why_not(); }

 private:
  void compute_all(std::span<std::byte> to) const override;
  // Calls `blocks`, which returns a pointer to this many bytes at this place of the file, or null.
  template <class Blocks>
  bool convert(std::uint64_t offset, std::span<std::byte> to, const Blocks& blocks) const noexcept;
  // Converts numbers of one stored row. `column` is the first.
  template <class Blocks>
  static bool convert_row(const ConvertedTensor& tensor, std::uint64_t row, std::uint64_t column,
                          std::span<std::byte> to, const Blocks& blocks) noexcept;

  core::FilePart file_;
  core::PartReader reader_;
  std::vector<ConvertedTensor> tensors_;
};

}  // namespace latebind::embedding
