// The types that the scheduler's files share: submitted texts, and runs of the model. Internal to the scheduler.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/placement/attestation.h"
#include "core/threads/mutex.h"
#include "embedding/schedule/batching.h"
#include "embedding/schedule/scheduler.h"

namespace latebind::embedding {

// The results of one output for the texts of a submission.
struct Scheduler::Part {
  std::size_t output = 0;  // its position among the forward's
  ResultForm form{};
  std::size_t dimension = 0;
  bool has_length_1 = false;
  float* out = nullptr;                // destination of rows: the caller's memory or `memory`
  std::vector<float> memory{};         // owned by the submission
  std::vector<SparseVector> sparse{};  // replaces `out` for sparse rows
};

// The texts of one submission.
struct Scheduler::Work {
  // Constant after submission.
  Owner own_owner;         // the owner of texts that were submitted without one
  Owner* owner = nullptr;  // valid only while batches have not begun
  TokenTable tokens;
  BatchPlan plan;                           // the batches are used only if `alone`
  BatchShape shape;                         // the limits of the device's batches
  std::vector<std::size_t> static_lengths;  // set if `shape` has static rows
  std::vector<Part> parts;                  // one for each requested output
  std::uint64_t first_position = 0;
  bool alone = false;
  bool more_follows = false;
  bool caller_helps = false;
  core::RunOptions limits;
  std::chrono::steady_clock::time_point submitted;

  core::Condition changed;
  // Guarded by the scheduler's mutex_, and constant once the work is over.
  std::size_t next = 0;                  // if alone: the first batch of the plan that has not begun
  std::vector<std::uint32_t> remaining;  // otherwise: the texts that have not begun, longest first
  std::size_t running = 0;               // batches that have begun but not ended
  bool has_left = false;
  bool can_compute = false;    // a waiting thread can compute
  std::shared_ptr<Run> given;  // the run assigned to that thread
  core::Status error;
  std::uint64_t padded_tokens = 0;
  std::uint64_t fallback_texts = 0;
  std::shared_ptr<const core::Attestation> answered_by;
  std::chrono::steady_clock::time_point begun;
  std::chrono::steady_clock::time_point over;
  Done done;  // empty if a thread waits, or after the call
  bool is_over_noted = false;
  std::shared_ptr<Work> next_over;  // the next element of Scheduler::over_

  [[nodiscard]] bool has_next() const { return alone ? next < plan.batches.size() : !remaining.empty(); }
  [[nodiscard]] bool is_over() const { return !has_next() && running == 0; }
  // The numbers of a text's result.
  [[nodiscard]] std::span<float> numbers_of(Part& part, std::uint32_t row) const {
    if (part.form == ResultForm::kSparseRow) return part.sparse[row].values;
    if (part.form == ResultForm::kRow) return {part.out + row * part.dimension, part.dimension};
    return {part.out + tokens.vectors_before(row) * part.dimension, tokens.vector_counts()[row] * part.dimension};
  }
  [[nodiscard]] bool waits_to_compute() const { return can_compute && given == nullptr; }
  [[nodiscard]] std::uint32_t length_of(std::uint32_t row) const { return tokens.lengths()[row]; }
  // The texts that have not begun.
  [[nodiscard]] std::span<const std::uint32_t> rows_left() const {
    if (!alone) return remaining;
    const std::size_t first = has_next() ? plan.batches[next].first : 0;
    const std::size_t end = has_next() ? plan.batches.back().first + plan.batches.back().count : 0;
    return std::span(plan.order).subspan(first, end - first);
  }
};

// The texts of one submission in a run of the model.
struct Scheduler::Piece {
  std::shared_ptr<Work> work;
  std::vector<std::uint32_t> rows{};  // positions among the work's texts, longest first
  // The first error of these texts.
  core::Status error{};
};

// A run of the model, once its batch has been formed.
struct Scheduler::Run {
  std::vector<Piece> pieces;
  std::size_t rows = 0;
  std::size_t width = 0;
  std::uint64_t tokens = 0;   // sum of the lengths of its texts
  core::RunOptions limits{};  // ends the run once no caller waits for it
  std::shared_ptr<const core::Attestation> answered_by{};
};

}  // namespace latebind::embedding
