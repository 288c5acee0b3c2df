#include "backends/native/plan/place_tables.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace latebind::native {

PlaceTable::PlaceTable(const graph::Disentangled& terms, std::size_t heads, std::size_t width,
                       std::optional<FixedProduct> keys, std::optional<FixedProduct> queries)
    : span_(static_cast<std::size_t>(terms.span)),
      exact_(terms.farthest ? span_ / 2 : span_ - 1),
      farthest_(static_cast<std::size_t>(graph::farthest_of(terms))),
      heads_(heads),
      width_(width),
      keys_{.from = std::move(keys), .panels = {}},
      queries_{.from = std::move(queries), .panels = {}} {
  const auto end = static_cast<std::int64_t>(farthest_ + kPlacesBeyond);
  for (std::int64_t distance = -end; distance <= end; ++distance) {
    of_distance_.push_back(static_cast<std::int32_t>(row_of(terms, distance)));
    column_of_distance_.push_back(static_cast<std::int32_t>(2 * terms.span - 1 - row_of(terms, -distance)));
  }
}

HeadPlaces PlaceTable::of_head(std::size_t head) const {
  const auto panels = [head](const Side& side) {
    return side.panels.size() == 0 ? nullptr : side.panels.data() + head * side.head_size;
  };
  return {.keys = panels(keys_),
          .queries = panels(queries_),
          .span = span_,
          .exact = exact_,
          .of_distance = of_distance_.data(),
          .column_of_distance = column_of_distance_.data(),
          .farthest = farthest_};
}

void compute_places(const Kernels& kernels, const Product& product, const PackedMatrices& matrices,
                    std::vector<PlaceTable>& tables, Team::Crew& crew) {
  struct Job {
    PlaceTable& table;
    PlaceTable::Side& side;
    bool is_reversed = false;
  };
  std::vector<Job> jobs;
  std::size_t operand_size = 0;
  std::size_t result_size = 0;
  for (PlaceTable& table : tables) {
    for (PlaceTable::Side* const side : {&table.keys_, &table.queries_}) {
      if (!side->from) continue;
      const FixedRows& rows = *side->from->rows;
      side->head_size = product.packed_keys(rows.count, table.width_);
      side->panels.reserve(table.heads_ * side->head_size);
      operand_size = std::max(operand_size, rows.count * product.operand_words(rows.width));
      result_size = std::max(result_size, rows.count * table.heads_ * table.width_);
      jobs.push_back({table, *side, side == &table.keys_});
    }
  }
  if (jobs.empty()) return;
  struct Memory {
    Buffer operands;
    Buffer results;
  };
  std::vector<Memory> memories(crew.size());
  for (Memory& memory : memories) {
    memory.operands.reserve(operand_size);
    memory.results.reserve(result_size);
  }
  const auto compute = [&](const Job& job, const Memory& memory) {
    const FixedProduct& from = *job.side.from;
    const FixedRows& rows = *from.rows;
    const std::size_t stride = product.operand_words(rows.width);
    for (std::size_t r = 0; r < rows.count; ++r) {
      const float* const row = rows.numbers.data() + r * rows.width;
      float* const to = memory.operands.data() + (job.is_reversed ? rows.count - 1 - r : r) * stride;
      if (product.convert == nullptr) {
        std::copy_n(row, rows.width, to);
      } else {
        product.convert({row, 1, rows.width}, rows.width, {to, 1, stride});
      }
    }
    const Panels matrix = matrices[from.matrix];
    product.multiply({memory.operands.data(), rows.count, stride}, matrix, 0, panel_count(matrix.columns, kernels),
                     from.bias.data(), {memory.results.data(), rows.count, matrix.columns});
    for (std::size_t head = 0; head < job.table.heads_; ++head) {
      product.pack_keys({memory.results.data() + head * job.table.width_, rows.count, matrix.columns}, job.table.width_,
                        job.side.panels.data() + head * job.side.head_size);
    }
  };
  std::atomic<std::size_t> next{0};
  crew.run([&](std::size_t member) {
    for (std::size_t i = next.fetch_add(1); i < jobs.size(); i = next.fetch_add(1))
      compute(jobs[i], memories[member]);
  });
  for (const Job& job : jobs)
    job.side.from.reset();
}

}  // namespace latebind::native
