// EmbedTask: texts whose vectors are computed while no thread waits for them, for a service with many requests at once.
//
// A value that refers to what was started; copies refer to the same. Any thread. The encoder must outlive every task
// that is not over.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/embedder.h"
#include "embedding/outputs/sparse_vector.h"
#include "embedding/scheduler.h"

namespace latebind::embedding {

struct TaskOptions {
  TextOptions texts{};
  // kBusy when with these texts more tokens would wait or run, unless nothing waits; 0: any number may.
  std::uint64_t queue_tokens_max = 0;
  // kTextTooLong when the texts have more tokens together; 0: any number.
  std::uint64_t tokens_max = 0;
  // What the text at a position is called in errors; without it texts[position], and pairs[position] of pairs.
  std::function<std::string(std::uint64_t position)> name_of{};
};

// What became of a task.
struct TaskOutcome {
  // The first error, by the text's position; kCancelled after drop().
  core::Status status{};
  // Rows of `dimension` floats, in the order of the texts: one for each text, or for each of their tokens.
  std::vector<float> vectors{};
  std::size_t dimension = 0;
  std::vector<SparseVector> sparse{};  // instead, where the output is sparse
  std::vector<std::uint32_t> token_counts{};
  std::vector<std::uint32_t> vector_counts{};  // of each text, where its tokens have vectors
  EmbedStats stats{};                          // seconds: from the submission to the end
  // Which device computed them, one that is a fallback where several did; or would have, where there was nothing to
  // compute.
  std::shared_ptr<const core::Attestation> answered_by{};
  std::chrono::steady_clock::duration tokenizing{};  // on the calling thread
  std::chrono::steady_clock::duration waiting{};     // from the submission to the first batch
  std::chrono::steady_clock::duration computing{};   // from there to the end
};

class EmbedTask {
 public:
  // Called exactly once for a task that was started, possibly before start() returns: on a thread that computes, or
  // within start() or drop(). Must be short and must not throw.
  using Done = std::function<void(TaskOutcome)>;

  EmbedTask() = default;  // nothing

  // Turns the inputs into ids on this thread and submits them, for the first output. The errors of Encoder::encode(),
  // kBusy and kOutOfMemory: `done` is not called then.
  static core::Result<EmbedTask> start(const Encoder& encoder, const InputList& inputs, const TaskOptions& options,
                                       Done done);
  // The same on the route of the role in `options`.
  static core::Result<EmbedTask> start(const Embedder& embedder, const InputList& inputs, const TaskOptions& options,
                                       Done done);

  // Nobody wants the vectors any more: what has not begun is not computed. Does nothing when it is over.
  void drop() const { ticket_.drop(); }

 private:
  explicit EmbedTask(Scheduler::Ticket ticket) : ticket_(std::move(ticket)) {}

  Scheduler::Ticket ticket_;
};

}  // namespace latebind::embedding
