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
#include "core/platform/files/file_reader.h"
#include "core/status.h"

namespace latebind::native {

// A table of which rows are read when they are needed: from a copy where it is small, else from its file, which may be
// cut while it is in use; from memory where the model is there or the file has another name now. Any thread.
class Table {
 public:
  Table(const graph::Graph& graph, const graph::Weight& weight);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  // Converted to f32; row < rows(). False where the file has no such row any more.
  [[nodiscard]] bool copy_row(std::size_t row, float* to) const noexcept;
  // The same, added to what is there.
  [[nodiscard]] bool add_row(std::size_t row, float* to) const noexcept;
  // Why a row could not be read.
  [[nodiscard]] core::Status why_not() const { return file_->why_not(); }

 private:
  // Calls set(i, number) for each number of the row.
  template <class Set>
  bool read_row(std::size_t row, const Set& set) const noexcept;

  std::shared_ptr<const std::vector<std::byte>> copy_;
  std::span<const std::byte> bytes_;  // the copy, or the graph's; not looked at where there is a file
  std::shared_ptr<const platform::FileReader> file_;
  std::uint64_t offset_ = 0;  // in it
  core::ElementType type_;
  std::size_t rows_;
  std::size_t width_;
};

// All numbers of a weight, converted to f32.
[[nodiscard]] std::vector<float> read_weight(const graph::Graph& graph, const graph::Weight& weight);

// The weights of linear operators, transposed and in panels, as a product takes them.
class PackedMatrices {
 public:
  PackedMatrices(const Kernels& kernels, const Product& product) : kernels_(kernels), product_(product) {}

  // Makes room for this matrix, [columns, rows] in the graph, and returns its number; one that is there is taken again.
  std::size_t add(const graph::Weight& weight);
  // One thread's part of packing them all.
  using Part = std::function<void(std::size_t panel)>;
  // Packs them all; `share` calls a part for each number below the first argument, on any threads. The file's pages are
  // returned to the system. Throws std::bad_alloc.
  void pack(const graph::Graph& graph, const std::function<void(std::size_t panels, const Part& part)>& share);

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
  // The panel is one of the matrix's.
  void pack_panel(const graph::Graph& graph, const Matrix& matrix, std::size_t panel) const;
  [[nodiscard]] std::span<const std::byte> bytes_of_all(const graph::Graph& graph) const;

  const Kernels& kernels_;
  const Product& product_;
  std::vector<Matrix> matrices_;
  std::size_t size_ = 0;
  std::size_t panels_ = 0;
  Buffer memory_;
};

}  // namespace latebind::native
