// Weights as `native` computes with them, made once when a model is loaded.
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
#include "core/part_reader.h"
#include "core/result.h"
#include "core/status.h"

namespace latebind::native {

// The files with a graph's weights, which may be cut while they are read. Any thread.
class WeightFiles {
 public:
  explicit WeightFiles(const graph::Graph& graph);

  // That of the weight, which its offset counts from.
  [[nodiscard]] const std::shared_ptr<const core::PartReader>& of(const graph::Weight& weight) const {
    return readers_[weight.file];
  }
  // All numbers of a weight, converted to f32. The errors of PartReader.
  [[nodiscard]] core::Result<std::vector<float>> numbers(const graph::Weight& weight) const;

 private:
  std::vector<std::shared_ptr<const core::PartReader>> readers_;
};

// A table of which rows are read when they are needed: from a copy where it is small, else from its file. Any thread.
class Table {
 public:
  // The errors of PartReader.
  [[nodiscard]] static core::Result<Table> make(const WeightFiles& files, const graph::Weight& weight);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  // Converted to f32; row < rows(). False where the file has no such row any more.
  [[nodiscard]] bool copy_row(std::size_t row, float* to) const noexcept;
  // The same, added to what is there.
  [[nodiscard]] bool add_row(std::size_t row, float* to) const noexcept;
  // Why a row could not be read.
  [[nodiscard]] core::Status why_not() const { return file_->why_not(); }

 private:
  explicit Table(const graph::Weight& weight);
  // Calls set(i, number) for each number of the row.
  template <class Set>
  bool read_row(std::size_t row, const Set& set) const noexcept;

  std::shared_ptr<const std::vector<std::byte>> copy_;  // null: it is in the file
  std::shared_ptr<const core::PartReader> file_;
  std::uint64_t offset_;  // in it
  core::ElementType type_;
  std::size_t rows_;
  std::size_t width_;
};

// The weights of linear operators, transposed and in panels, as a product takes them.
class PackedMatrices {
 public:
  PackedMatrices(const Kernels& kernels, const Product& product) : kernels_(kernels), product_(product) {}

  // Makes room for this matrix, [columns, rows] in the graph, and returns its number; one that is there is taken again.
  std::size_t add(const graph::Weight& weight);
  // A thread's part of packing them all.
  using Part = std::function<void(std::size_t panel, std::size_t thread)>;
  // Packs them all; `share` calls a part for each number below the first argument, on so many threads. The pages of a
  // file that had to be mapped are returned to the system. The errors of PartReader; throws std::bad_alloc.
  [[nodiscard]] core::Status pack(const graph::Graph& graph, const WeightFiles& files, std::size_t threads,
                                  const std::function<void(std::size_t panels, const Part& part)>& share);

  [[nodiscard]] Panels operator[](std::size_t matrix) const {
    const Matrix& one = matrices_[matrix];
    return {memory_.data() + one.offset, one.rows, one.columns};
  }

 private:
  struct Matrix {
    graph::Weight weight;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t offset = 0;       // in memory_
    std::size_t first_panel = 0;  // of all
  };
  // Where a panel of a matrix begins in its file, counted from the matrix, and how much it is: its columns follow each
  // other there.
  [[nodiscard]] std::size_t offset_of(const Matrix& matrix, std::size_t panel) const;
  [[nodiscard]] std::size_t size_of(const Matrix& matrix, std::size_t panel) const;
  // The panel is one of the matrix's, and these are its bytes.
  void pack_panel(const Matrix& matrix, std::size_t panel, std::span<const std::byte> bytes) const;
  // Those of all matrices that are in memory, and what lies between them.
  [[nodiscard]] std::span<const std::byte> bytes_in_memory(const graph::Graph& graph, const WeightFiles& files) const;

  const Kernels& kernels_;
  const Product& product_;
  std::vector<Matrix> matrices_;
  std::size_t size_ = 0;
  std::size_t panels_ = 0;
  Buffer memory_;
};

}  // namespace latebind::native
