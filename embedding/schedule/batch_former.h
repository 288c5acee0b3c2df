// BatchFormer: chooses the texts that are computed together.
//
// If padding costs no time, a batch is filled in the order of the turns. Otherwise it takes, from the owners that came
// first, the texts that are cheapest to compute together with the longest text of the chosen submission (batching.h).
// Texts that must not share a batch were divided when they were submitted, so that their batches do not depend on
// others.
//
// Pure: no lock, no thread, no clock. The caller serializes the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "embedding/schedule/fair_queue.h"
#include "embedding/schedule/ready_shapes.h"

namespace latebind::embedding {

// Texts that are computed in one run of the model.
struct FormedBatch {
  std::vector<BatchPiece> pieces{};  // that of the chosen submission is first
  std::size_t rows = 0;
  std::size_t width = 0;         // tokens of each row, padding included
  std::uint64_t tokens = 0;      // sum of the lengths of its texts
  std::size_t side_by_side = 1;  // batches that will run at the same time, this one included; an estimate
};

class BatchFormer {
 public:
  // `workers` batches are computed in parallel, at least 1.
  explicit BatchFormer(std::size_t workers) : workers_(workers) {}

  // Forms a batch with the longest waiting text of `seed`, an entry of the queue, and removes its texts from the queue.
  // `running` batches run already. Throws std::bad_alloc, and has changed nothing then.
  [[nodiscard]] FormedBatch form(FairQueue& queue, const FairQueue::Entry& seed, std::size_t running);

 private:
  // A waiting text.
  struct Candidate {
    const FairQueue::Entry* texts;
    std::uint32_t row;
    std::uint32_t length;
  };

  void choose(const FairQueue& queue, const FairQueue::Entry& seed, FormedBatch& batch) const;
  void choose_in_order(const FairQueue& queue, const FairQueue::Entry& seed, FormedBatch& batch) const;
  [[nodiscard]] static std::vector<Candidate> pool_for(const FairQueue& queue, const FairQueue::Entry& seed);

  const std::size_t workers_;
  ReadyShapes ready_;
};

}  // namespace latebind::embedding
