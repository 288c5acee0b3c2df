// Pipeline: what an embedder is made of, once the model is loaded: tokenizer, model, and the threads that feed it.
//
// Internal to the embedding layer: Embedder and EmbedStream are two ways to drive it. Thread-safe after construction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/batching.h"
#include "embedding/embedder.h"
#include "embedding/forward.h"
#include "embedding/token_table.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/work_team.h"

namespace latebind::embedding {

class Pipeline {
 public:
  // `batch_tokens` and `limits.max_tokens` at least 1.
  Pipeline(Tokenizer tokenizer, Forward forward, TokenLimits limits, std::size_t batch_tokens);

  [[nodiscard]] std::size_t dimension() const { return forward_.dimension(); }
  [[nodiscard]] std::size_t max_tokens() const { return limits_.max_tokens; }
  [[nodiscard]] std::size_t batch_tokens() const { return batch_tokens_; }
  [[nodiscard]] const Forward& forward() const { return forward_; }
  // Batches that can be computed side by side.
  [[nodiscard]] std::size_t requests() const { return requests_; }
  [[nodiscard]] WorkTeam& team() { return team_; }

  // Appends one text; an error names it texts[position].
  [[nodiscard]] core::Status tokenize(std::string_view text, std::uint64_t position, TokenTable& table) const;
  // Appends all texts, on several threads where that pays. Positions count from `first_position`.
  [[nodiscard]] core::Status tokenize(std::span<const std::string_view> texts, std::uint64_t first_position,
                                      TokenTable& table);

  // Texts that are computed together: planned, then done piece by piece, a batch a piece, by whoever takes them.
  class Job final : public WorkTeam::Work {
   public:
    explicit Job(Pipeline& pipeline) : pipeline_(pipeline) {}
    // Drops what nobody has begun, and waits for the rest.
    ~Job() override;

    // Filled by the owner before start().
    TokenTable tokens;

    // Plans the batches and hands them to the team. Vectors go to `out` (rows of the pipeline's dimension, in the order
    // of the texts), which stays valid until finish(). `caller_helps`: the caller will call help(), so that the team
    // needs one thread less.
    void start(float* out, std::uint64_t first_position, bool more_follows, bool caller_helps);
    // The calling thread computes too, until no batch is left to take.
    void help() { pipeline_.team_.help(*this); }
    [[nodiscard]] bool is_done() const { return pipeline_.team_.is_done(*this); }
    // Waits for the rest. The first error of a batch (kInternal, by the text's position and the device, for a vector
    // that is not finite: a retry gives the same); else adds the figures to `stats` (seconds excepted).
    [[nodiscard]] core::Status finish(EmbedStats& stats);

    void run_piece(std::size_t piece) noexcept override;

   private:
    core::Status run_batch(const Batch& batch);

    Pipeline& pipeline_;
    BatchPlan plan_;
    bool started_ = false;
    float* out_ = nullptr;
    std::uint64_t first_position_ = 0;

    std::atomic<bool> failed_ = false;
    std::atomic<std::uint64_t> fallback_texts_ = 0;
    std::mutex mutex_;
    core::Status error_;  // guarded by mutex_
  };

 private:
  // A Scratch that goes back to the pipeline, so that buffers are reused whichever thread comes.
  class ScratchLease;

  Tokenizer tokenizer_;
  Forward forward_;
  const TokenLimits limits_;
  const std::size_t batch_tokens_;
  const std::size_t requests_;

  std::mutex scratch_mutex_;
  std::vector<std::unique_ptr<Forward::Scratch>> idle_scratch_;  // guarded by scratch_mutex_, at most requests_ + 1

  WorkTeam team_;  // last: its threads use all of the above
};

}  // namespace latebind::embedding
