#include "embedding/weights/adapters/merge_adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/platform/system_info.h"
#include "core/threads/thread_pool.h"
#include "embedding/weights/adapters/adapter_parts.h"
#include "embedding/weights/adapters/matrices.h"
#include "embedding/weights/floats_of.h"
#include "embedding/weights/made_tensors.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// The change of one matrix in its stored layout: row r += scale · Σ left[r,k] · right row k.
class ChangedMatrix {
 public:
  static Result<ChangedMatrix> of(const LowRankChange& change, const StoredTensor& old, const TensorFile& adapter,
                                  std::span<std::byte> to) {
    LB_ASSIGN_OR_RETURN(const StoredTensor down, adapter.find(change.down, dims_of({change.rank, change.in})));
    LB_ASSIGN_OR_RETURN(const StoredTensor up, adapter.find(change.up, dims_of({change.out, change.rank})));
    ChangedMatrix made;
    made.rank_ = change.rank;
    made.scale_ = change.scale;
    made.type_ = old.type;
    made.old_ = old.bytes;
    made.to_ = to;
    made.rows_ = static_cast<std::size_t>(old.shape[0]);
    made.columns_ = static_cast<std::size_t>(old.shape[1]);
    if (change.is_table) {
      made.left_ = transposed(floats_of(down), change.rank, change.in);
      made.right_ = transposed(floats_of(up), change.out, change.rank);
    } else {
      made.left_ = floats_of(up);
      made.right_ = floats_of(down);
    }
    if (!change.lengths.empty()) {
      LB_ASSIGN_OR_RETURN(const StoredTensor lengths, adapter.find(change.lengths, dims_of({change.out})));
      made.lengths_ = floats_of(lengths);
    }
    return made;
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }

  void compute(std::size_t begin, std::size_t end) const {
    const std::size_t row_bytes = to_.size() / rows_;
    std::vector<float> old(columns_);
    std::vector<float> sum(columns_);
    for (std::size_t row = begin; row < end; ++row) {
      read_floats(old_.data() + row * row_bytes, type_, old);
      std::ranges::fill(sum, 0.0F);
      for (std::size_t k = 0; k < rank_; ++k) {
        const float factor = left_[row * rank_ + k];
        const float* const right = right_.data() + k * columns_;
        for (std::size_t i = 0; i < columns_; ++i)
          sum[i] += factor * right[i];
      }
      double squares = 0;
      for (std::size_t i = 0; i < columns_; ++i) {
        old[i] += sum[i] * scale_;
        squares += double{old[i]} * double{old[i]};
      }
      if (!lengths_.empty()) {
        const auto factor = static_cast<float>(double{lengths_[row]} / std::sqrt(squares));
        for (float& number : old)
          number *= factor;
      }
      write_floats(old, type_, to_.data() + row * row_bytes);
    }
  }

 private:
  std::size_t rank_ = 0;
  float scale_ = 1;
  core::ElementType type_ = core::ElementType::kF32;
  std::span<const std::byte> old_;
  std::span<std::byte> to_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<float> left_;     // [rows, rank]
  std::vector<float> right_;    // [rank, columns]
  std::vector<float> lengths_;  // [rows], or empty
};

void compute_in_parallel(const ChangedMatrix& matrix, core::ThreadPool& team, std::size_t processors) {
  const std::size_t rows = matrix.rows();
  const std::size_t pieces = std::min(rows, 4 * processors);
  team.share(pieces, processors - 1,
             [&](std::size_t piece) { matrix.compute(rows * piece / pieces, rows * (piece + 1) / pieces); });
}

}  // namespace

Status merge_adapter(const TensorFile& adapter, const AdapterConfig& config, ModelWeights& weights) {
  LB_ASSIGN_OR_RETURN(const AdapterParts parts, read_adapter_parts(adapter, config, weights));
  std::vector<StoredTensor> old;
  std::vector<MadeTensors::Wanted> wanted;
  for (const LowRankChange& change : parts.changes) {
    const auto dims = change.is_table ? dims_of({change.in, change.out}) : dims_of({change.out, change.in});
    LB_ASSIGN_OR_RETURN(old.emplace_back(), weights.find_stored(change.tensor, dims));
    wanted.push_back({.name = change.tensor, .type = old.back().type, .shape = dims});
  }
  std::vector<StoredTensor> replacing;
  for (const ReplacedTensor& one : parts.replaced) {
    LB_ASSIGN_OR_RETURN(replacing.emplace_back(), adapter.find(one.stored, *adapter.shape_of(one.stored)));
    const bool is_twice = std::ranges::any_of(wanted, [&](const auto& other) { return other.name == one.tensor; });
    if (is_twice) {
      return {StatusCode::kUnsupported, fmt::format("{} replaces a tensor that the adapter also changes",
                                                    place_of_tensor(adapter.name(), one.stored))};
    }
    wanted.push_back({.name = one.tensor, .type = replacing.back().type, .shape = replacing.back().shape});
  }
  LB_ASSIGN_OR_RETURN(MadeTensors made, MadeTensors::of(adapter.name(), wanted));
  const std::size_t processors = std::max<std::size_t>(1, platform::usable_processors());
  core::ThreadPool team(processors - 1);
  for (std::size_t i = 0; i < parts.changes.size(); ++i) {
    const LowRankChange& change = parts.changes[i];
    LB_ASSIGN_OR_RETURN(const ChangedMatrix matrix,
                        ChangedMatrix::of(change, old[i], adapter, made.to_write(change.tensor)));
    compute_in_parallel(matrix, team, processors);
  }
  for (std::size_t i = 0; i < parts.replaced.size(); ++i)
    std::ranges::copy(replacing[i].bytes, made.to_write(parts.replaced[i].tensor).begin());
  weights.replace(std::move(made));
  return {};
}

}  // namespace latebind::embedding
