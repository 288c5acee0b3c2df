// Weights in the forms in which `native` computes with them. They are made once, when a model is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backends/native/kernels/kernels.h"
#include "backends/native/memory/buffer.h"
#include "core/graph/graph.h"
#include "core/model/part_reader.h"
#include "core/result.h"
#include "core/status.h"

namespace latebind::native {

// The files with a graph's weights. A file may be truncated while it is read. Thread-safe.
class WeightFiles {
 public:
  explicit WeightFiles(const graph::Graph& graph);

  // The file with this weight, from whose beginning the weight's offset counts.
  [[nodiscard]] const std::shared_ptr<const core::PartReader>& of(const graph::Weight& weight) const {
    return readers_[weight.file];
  }
  // All numbers of a weight, converted to f32, or the errors of PartReader.
  [[nodiscard]] core::Result<std::vector<float>> numbers(const graph::Weight& weight) const;

 private:
  std::vector<std::shared_ptr<const core::PartReader>> readers_;
};

// A table whose rows are read when they are needed: from a copy if it is small, otherwise from its file. Thread-safe.
class Table {
 public:
  // Returns the errors of PartReader.
  [[nodiscard]] static core::Result<Table> make(const WeightFiles& files, const graph::Weight& weight);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  // Copies a row, converted to f32; row < rows(). Returns false if the file no longer has the row.
  [[nodiscard]] bool copy_row(std::size_t row, float* to) const noexcept;
  // Like copy_row(), but adds the row to the numbers in `to`.
  [[nodiscard]] bool add_row(std::size_t row, float* to) const noexcept;
  // Why a row could not be read.
  [[nodiscard]] core::Status why_not() const { return file_->why_not(); }

 private:
  explicit Table(const graph::Weight& weight);
  // Calls set(i, number) for each number of the row.
  template <class Set>
  bool read_row(std::size_t row, const Set& set) const noexcept;

  std::shared_ptr<const std::vector<std::byte>> copy_;  // null: the rows are read from the file
  std::shared_ptr<const core::PartReader> file_;
  std::uint64_t offset_;  // in the file
  core::ElementType type_;
  std::size_t rows_;
  std::size_t width_;
};

// The weights of linear operators, transposed and packed in panels as operands of a product. Reading is thread-safe;
// add() and pack() are not.
class PackedMatrices {
 public:
  PackedMatrices(const Kernels& kernels, const Product& product) : kernels_(kernels), product_(product) {}

  // Reserves a place for this matrix, [columns, rows] in the graph, or [rows, columns] if it is transposed, and returns
  // its number. A matrix that has a place keeps it. In int8, a matrix whose file has four bits for each number keeps
  // them (Panels::four_bits), unless it is transposed.
  std::size_t add(const graph::Weight& weight, const WeightFiles& files, bool is_transposed = false);
  // Packs one panel on one thread.
  using Part = std::function<void(std::size_t panel, std::size_t thread)>;
  // Packs all matrices. `share` calls a part for each number below its first argument, on `threads` threads. Pages of
  // files that had to be mapped are returned to the system. Returns the errors of PartReader; throws std::bad_alloc.
  [[nodiscard]] core::Status pack(const graph::Graph& graph, const WeightFiles& files, std::size_t threads,
                                  const std::function<void(std::size_t panels, const Part& part)>& share);

  [[nodiscard]] Panels operator[](std::size_t matrix) const {
    const Matrix& one = matrices_[matrix];
    return {.data = memory_.data() + one.offset,
            .rows = one.rows,
            .columns = one.columns,
            .next = nullptr,
            .four_bits = one.four_bits};
  }

 private:
  struct Matrix {
    graph::Weight weight;
    bool is_transposed = false;
    bool four_bits = false;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t offset = 0;       // in memory_
    std::size_t first_panel = 0;  // counted over all matrices
  };
  // Return the offset in a matrix of the bytes of one panel, and their number. The bytes are consecutive in the file,
  // except in a transposed matrix, where they are a part of each row.
  [[nodiscard]] std::size_t offset_of(const Matrix& matrix, std::size_t panel) const;
  [[nodiscard]] std::size_t size_of(const Matrix& matrix, std::size_t panel) const;
  // Reads the bytes of a panel from a file. For a transposed matrix, the parts of its rows follow one another in `to`.
  [[nodiscard]] bool read_panel(const core::PartReader& file, const Matrix& matrix, std::size_t panel,
                                std::span<std::byte> to) const;
  // Reads and packs a panel of a matrix of four bits. `groups` is the memory for its groups, groups_in() of them.
  [[nodiscard]] std::size_t groups_in(const Matrix& matrix, std::size_t panel) const;
  [[nodiscard]] bool pack_groups(const core::PartReader& file, const Matrix& matrix, std::size_t panel,
                                 std::span<core::FourBitGroup> groups) const;
  // Packs a panel of the matrix from these bytes. The rows of a transposed matrix are `stride` numbers apart.
  void pack_panel(const Matrix& matrix, std::size_t panel, std::span<const std::byte> bytes, std::size_t stride) const;
  // The bytes of all matrices that are in memory, including the gaps between them.
  [[nodiscard]] std::span<const std::byte> bytes_in_memory(const graph::Graph& graph, const WeightFiles& files) const;

  const Kernels& kernels_;
  const Product& product_;
  std::vector<Matrix> matrices_;
  std::size_t size_ = 0;
  std::size_t panels_ = 0;
  Buffer memory_;
};

}  // namespace latebind::native
