// EmbedTask: computes the results of texts while no thread waits for them, for a service with many requests at once.
//
// A handle of a started computation; copies refer to the same one. All calls are thread-safe. The encoder must outlive
// every task that is not over.
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
#include "embedding/results.h"
#include "embedding/schedule/scheduler.h"

namespace latebind::embedding {

struct TaskOptions {
  TextOptions texts{};
  // The names of the outputs that the task gives, all of one pass; see Encoder::find_outputs().
  std::vector<std::string> outputs{};
  // start() returns kBusy if more tokens would wait or run, unless the queue is empty. 0 means unlimited.
  std::uint64_t queue_tokens_max = 0;
  // start() returns kTextTooLong if the texts together have more tokens. 0 means unlimited.
  std::uint64_t tokens_max = 0;
  // Returns the name of the text at a position, for errors. If empty, errors name texts[position] or pairs[position].
  std::function<std::string(std::uint64_t position)> name_of{};
};

// The outcome of a task.
struct TaskOutcome {
  // The first error of the texts; kCancelled after drop().
  core::Status status{};
  // The results of TaskOptions::outputs, in their order. Empty after an error.
  std::vector<OutputResult> results{};
  std::vector<std::uint32_t> token_counts{};
  EmbedStats stats{};  // `seconds` counts from the submission to the end
  // The attestation of the device that computed the texts; that of a fallback if any batch ran on a fallback. If there
  // was no text to compute, that of the encoder.
  std::shared_ptr<const core::Attestation> answered_by{};
  std::chrono::steady_clock::duration tokenizing{};  // on the calling thread
  std::chrono::steady_clock::duration waiting{};     // from the submission to the first batch
  std::chrono::steady_clock::duration computing{};   // from the first batch to the end
};

class EmbedTask {
 public:
  // Receives the outcome. Called exactly once for a started task, possibly before start() returns, on a computing
  // thread or within start() or drop(). Must be short and must not throw.
  using Done = std::function<void(TaskOutcome)>;

  EmbedTask() = default;  // refers to no computation

  // Tokenizes the inputs on this thread and submits them. Returns the errors of Encoder::encode(),
  // kBusy and kOutOfMemory; `done` is not called after an error.
  static core::Result<EmbedTask> start(const Encoder& encoder, const InputList& inputs, const TaskOptions& options,
                                       Done done);
  // The same on the route for the role in `options`.
  static core::Result<EmbedTask> start(const Embedder& embedder, const InputList& inputs, const TaskOptions& options,
                                       Done done);

  // Drops the texts that have not begun. Has no effect once the task is over.
  void drop() const { ticket_.drop(); }

 private:
  explicit EmbedTask(Scheduler::Ticket ticket) : ticket_(std::move(ticket)) {}

  Scheduler::Ticket ticket_;
};

}  // namespace latebind::embedding
