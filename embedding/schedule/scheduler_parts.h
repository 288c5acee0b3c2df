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
  // Of ragged rows without the first tokens: the vectors of each text, and of all texts before it. Else empty.
  std::vector<std::uint32_t> counts{};
  std::vector<std::size_t> begins{};
};

// The texts of one submission. What the queue changes of them is guarded by the scheduler's mutex_.
struct Scheduler::Work : QueuedTexts {
  // Constant after submission.
  Owner own_owner;  // the owner of texts that were submitted without one
  TokenTable tokens;
  std::vector<Part> parts;  // one for each requested output
  std::uint64_t first_position = 0;
  bool caller_helps = false;
  core::RunOptions limits;
  std::chrono::steady_clock::time_point submitted;

  core::Condition changed;
  // Guarded by the scheduler's mutex_, and constant once the work is over.
  std::size_t running = 0;  // batches that have begun but not ended
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

  [[nodiscard]] bool is_over() const { return !has_next() && running == 0; }
  // The numbers of a text's result.
  [[nodiscard]] std::span<float> numbers_of(Part& part, std::uint32_t row) const {
    if (part.form == ResultForm::kSparseRow) return part.sparse[row].values;
    if (part.form == ResultForm::kRow) return {part.out + row * part.dimension, part.dimension};
    if (!part.counts.empty()) {
      return {part.out + part.begins[row] * part.dimension, part.counts[row] * part.dimension};
    }
    return {part.out + tokens.vectors_before(row) * part.dimension, tokens.vector_counts()[row] * part.dimension};
  }
  [[nodiscard]] bool waits_to_compute() const { return can_compute && given == nullptr; }

  // All texts in the scheduler's queue are Work.
  [[nodiscard]] static Work& of(const BatchPiece& piece) { return static_cast<Work&>(*piece.texts); }
  [[nodiscard]] static std::shared_ptr<Work> of(const FairQueue::Entry& entry) {
    return std::static_pointer_cast<Work>(entry);
  }
};

// A run of the model, once its batch has been formed.
struct Scheduler::Run {
  FormedBatch batch;
  std::vector<core::Status> errors{};  // the first error of the texts of each piece, once the run has succeeded
  core::RunOptions limits{};           // ends the run once no caller waits for it
  std::shared_ptr<const core::Attestation> answered_by{};
};

}  // namespace latebind::embedding
