// PlaceTable: the tables of graph::Disentangled in the form that attention reads. They depend on weights alone and are
// computed once, when a model is loaded. Afterwards they are constant, and any thread may read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/native/kernels/kernels.h"
#include "backends/native/memory/buffer.h"
#include "backends/native/memory/weights.h"
#include "backends/native/team.h"
#include "core/graph/graph.h"

namespace latebind::native {

// Rows that depend on weights alone, and the product of such rows and a matrix.
struct FixedRows {
  std::vector<float> numbers;
  std::size_t count = 0;
  std::size_t width = 0;
};
struct FixedProduct {
  std::shared_ptr<const FixedRows> rows;
  std::size_t matrix = 0;  // index in Plan::matrices
  std::vector<float> bias;
};

// The tables of one attention, for all of its heads.
class PlaceTable {
 public:
  PlaceTable(const graph::Disentangled& terms, std::size_t heads, std::size_t width, std::optional<FixedProduct> keys,
             std::optional<FixedProduct> queries);

  [[nodiscard]] std::size_t places() const { return 2 * span_; }
  [[nodiscard]] HeadPlaces of_head(std::size_t head) const;

 private:
  friend void compute_places(const Kernels& kernels, const Product& product, const PackedMatrices& matrices,
                             std::vector<PlaceTable>& tables, Team::Crew& crew);
  struct Side {
    std::optional<FixedProduct> from;
    Buffer panels;              // the packed tables of the heads, in order
    std::size_t head_size = 0;  // numbers for each head
  };

  std::size_t span_;
  std::size_t exact_;
  std::size_t farthest_;
  std::size_t heads_;
  std::size_t width_;  // columns of a head
  std::vector<std::int32_t> of_distance_;
  std::vector<std::int32_t> column_of_distance_;
  Side keys_;
  Side queries_;
};

// Computes all tables, after the matrices have been packed. Throws std::bad_alloc.
void compute_places(const Kernels& kernels, const Product& product, const PackedMatrices& matrices,
                    std::vector<PlaceTable>& tables, Team::Crew& crew);

}  // namespace latebind::native
