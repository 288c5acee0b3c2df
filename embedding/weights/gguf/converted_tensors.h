// ConvertedTensors: tensors of a GGUF file as f32, computed from its blocks when they are read. It shares the mapped
// file; only the converted part is in memory. Thread-safe.
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

// How to compute the numbers that a network expects from a stored tensor.
struct ConvertedTensor {
  const GgufType* type = nullptr;  // a type with `dequantize`
  std::uint64_t offset = 0;        // in the file, which has all of its blocks
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;  // a whole number of blocks
  // The number of heads whose rows are interleaved: the first row of each half, the second row of each half, and so on.
  // It divides `rows` into parts of even size. 0: rows are in order.
  std::size_t interleaved_heads = 0;
  float subtracted = 0.0F;  // subtracted from each number
  std::uint64_t begin = 0;  // the tensor's offset in the computed bytes
};

class ConvertedTensors final : public core::ComputedBytes {
 public:
  // The tensors follow each other in the order of `begin`, without gaps. Throws std::bad_alloc.
  ConvertedTensors(core::FilePart file, std::vector<ConvertedTensor> tensors, std::size_t size)
      : ComputedBytes(size), file_(std::move(file)), reader_(file_), tensors_(std::move(tensors)) {}

  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> to) const noexcept override;
  [[nodiscard]] bool has_four_bits(std::uint64_t offset, std::uint64_t size) const noexcept override;
  [[nodiscard]] bool read_four_bits(std::uint64_t offset, std::span<core::FourBitGroup> to) const noexcept override;
  [[nodiscard]] core::Status why_not() const override { return reader_.why_not(); }

 private:
  void compute_all(std::span<std::byte> to) const override;
  // Returns the tensor with the byte at `offset` of the computed bytes.
  [[nodiscard]] const ConvertedTensor& tensor_at(std::uint64_t offset) const noexcept;
  // Converts with the bytes that `blocks(offset, size)` returns from the file; it returns null on failure.
  template <class Blocks>
  bool convert(std::uint64_t offset, std::span<std::byte> to, const Blocks& blocks) const noexcept;
  // Converts numbers of one stored row, from `column` on.
  template <class Blocks>
  static bool convert_row(const ConvertedTensor& tensor, std::uint64_t row, std::uint64_t column,
                          std::span<std::byte> to, const Blocks& blocks) noexcept;

  core::FilePart file_;
  core::PartReader reader_;
  std::vector<ConvertedTensor> tensors_;
};

}  // namespace latebind::embedding
