// Scheduler: runs submitted texts through the model, in fair order and in shared batches.
//
// It is a runner of two pure parts: FairQueue decides whose turn is next, and BatchFormer which texts share a batch.
// The scheduler has the lock, the callers that wait, and the runs.
//
// Owners (a call of embed(), a stream) submit tokenized texts. Whenever the device has a free request, the scheduler
// forms the next batch. It starts with the owner whose turn would begin first if all owners had the same share of the
// device. Thus many texts of one owner delay the few texts of another by at most one batch, and many calls with one
// text each delay a call with many texts by no more. Calls with few texts finish in the order in which they arrive,
// whatever their sizes, and wait no longer than the queue is long. A single text on an idle device runs at once.
//
// A Pipeline owns the scheduler. All calls are thread-safe. All submissions must be destroyed before the scheduler.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/backend/executable.h"
#include "core/result.h"
#include "core/threads/mutex.h"
#include "core/threads/thread_pool.h"
#include "embedding/embed_stats.h"
#include "embedding/forward.h"
#include "embedding/inputs/token_table.h"
#include "embedding/schedule/batch_former.h"
#include "embedding/schedule/fair_queue.h"

namespace latebind::embedding {

// A successful run of the model, for statistics.
struct BatchRecord {
  std::size_t texts = 0;
  std::size_t rows = 0;   // of the tensors: more than `texts` if the shape is static
  std::size_t width = 0;  // tokens of each row, padding included
  std::uint64_t tokens = 0;
  std::uint64_t computed_tokens = 0;  // includes the padding if the device computed it
  std::size_t submissions = 0;        // that share the batch
  std::chrono::steady_clock::duration time{};
};

// The work that waits and the work that runs, at one moment.
struct QueueState {
  std::size_t waiting_texts = 0;  // in batches that have not begun
  std::uint64_t waiting_tokens = 0;
  std::size_t running_batches = 0;
  std::uint64_t running_tokens = 0;  // of the texts in running batches

  // Returns whether `more` tokens may wait if at most `most` tokens may wait or run, because a new request waits for
  // both. An empty queue accepts any number of tokens; otherwise a request above the limit would never be computed.
  [[nodiscard]] bool has_room(std::uint64_t more, std::uint64_t most) const {
    return waiting_tokens == 0 || waiting_tokens + running_tokens + more <= most;
  }
  QueueState& operator+=(const QueueState& other) {
    waiting_texts += other.waiting_texts;
    waiting_tokens += other.waiting_tokens;
    running_batches += other.running_batches;
    running_tokens += other.running_tokens;
    return *this;
  }
};

class Scheduler {
  struct Work;
  struct Part;
  struct Run;

 public:
  // The limit of existing submissions of all owners together. submit() returns kBusy above it.
  static constexpr std::size_t kSubmissionsMax = 4096;

  // The device is shared between owners by tokens. An owner must outlive its submissions.
  using Owner = FairQueue::Owner;

  // A requested output, by its position among the forward's.
  struct Wanted {
    std::size_t output = 0;
    // The destination of the rows, in the order of the texts; ragged rows follow each other. If null, the rows go to
    // memory of the submission, as sparse rows always do.
    float* out = nullptr;
  };

  // The texts that an owner submits, with their options.
  struct Texts {
    TokenTable tokens;
    // The position of the first text, for errors.
    std::uint64_t first_position = 0;
    // The requested outputs. If empty, the first output of the forward.
    std::vector<Wanted> wanted{};
    // More texts follow at once (a stream's next window), so the last batches need not get smaller.
    bool more_follows = false;
    // The batches contain only these texts, and depend on no other caller.
    bool alone = false;
    // The waiting thread computes as well, so that the thread that requests a single text also computes it.
    bool caller_helps = false;
    // If bounded, the owner may be destroyed during the computation, which is then abandoned; every `out` must be null.
    core::RunOptions limits{};
    // submit() returns kBusy if more tokens would wait or run, unless the queue is empty. 0 means unlimited.
    std::uint64_t queue_tokens_max = 0;
  };

  // The times at which a submission and its batches began and ended.
  struct Times {
    std::chrono::steady_clock::time_point submitted{};
    std::chrono::steady_clock::time_point begun{};  // start of the first batch
    std::chrono::steady_clock::time_point over{};   // end of the last batch
  };

  // Submitted texts. One thread at a time may call a submission, and no thread may be in wait() during destruction. The
  // destructor drops the texts that have not begun; it waits for the others, or abandons them if the texts have limits.
  class Submission {
   public:
    Submission() = default;
    Submission(Submission&&) noexcept = default;
    Submission& operator=(Submission&& other) noexcept;
    ~Submission();

    [[nodiscard]] bool is_over() const;
    // Computes on this thread, if allowed, until no batch is left to begin. Returns kDeadlineExceeded or kCancelled
    // like wait(), but not the errors of the texts.
    [[nodiscard]] core::Status help(const core::RunOptions& limits = {});
    // Waits until the submission is over. Returns the first error of its texts (kInternal for a vector that is not
    // finite; a retry gives the same error). Returns kDeadlineExceeded or kCancelled if `limits` end earlier; the work
    // then continues.
    [[nodiscard]] core::Status wait(const core::RunOptions& limits = {});

    // The results of finished and successful texts; `part` is a position in Texts::wanted.
    [[nodiscard]] std::span<const float> vectors(std::size_t part = 0) const;
    [[nodiscard]] std::span<const std::uint32_t> token_counts() const;
    // The number of token vectors of each text.
    [[nodiscard]] std::span<const std::uint32_t> vector_counts(std::size_t part) const;
    // The statistics, without `seconds`.
    [[nodiscard]] EmbedStats stats() const;
    // The attestation of the device that computed the texts; that of a fallback if any batch ran on a fallback.
    [[nodiscard]] std::shared_ptr<const core::Attestation> answered_by() const;
    // The times. Valid once the submission is over.
    [[nodiscard]] Times times() const;
    // Returns the token table, so that its memory can be reused.
    [[nodiscard]] TokenTable take_tokens();
    // Returns the rows to which vectors() refers, or the sparse rows. Call these once the submission is over.
    [[nodiscard]] std::vector<float> take_vectors(std::size_t part = 0);
    [[nodiscard]] std::vector<SparseVector> take_sparse(std::size_t part = 0);

   private:
    friend class Scheduler;
    Submission(Scheduler& scheduler, std::shared_ptr<Work> work) : scheduler_(&scheduler), work_(std::move(work)) {}
    void drop() noexcept;

    Scheduler* scheduler_ = nullptr;
    std::shared_ptr<Work> work_;  // null for an empty submission
  };

  // Receives the submission once it is over, if no thread waits for it; wait() then returns at once. It is called
  // exactly once, on a computing thread or within submit_and_tell() or drop(), and without any lock of the scheduler.
  // It must be short and must not throw.
  using Done = std::function<void(Submission)>;

  // Refers to texts that were submitted with a Done. All calls are thread-safe.
  class Ticket {
   public:
    Ticket() = default;
    // Drops the texts that have not begun; the submission's error becomes kCancelled. Has no effect once the submission
    // is over. The scheduler must still exist.
    void drop() const;

   private:
    friend class Scheduler;
    Ticket(Scheduler& scheduler, std::weak_ptr<Work> work) : scheduler_(&scheduler), work_(std::move(work)) {}
    Scheduler* scheduler_ = nullptr;
    std::weak_ptr<Work> work_;
  };

  // Called after each successful run, on the thread that computed it and without a lock; must be short and must not
  // throw.
  using OnBatch = std::function<void(const BatchRecord&)>;

  // `batch_tokens` and `longest` are at least 1; see BatchLimits. `on_batch` may be empty.
  Scheduler(const Forward& forward, core::ThreadPool& team, std::size_t requests, std::size_t batch_tokens,
            std::size_t longest, OnBatch on_batch = {});
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  // Submits texts of `owner`. Returns kBusy if too many texts wait already.
  [[nodiscard]] core::Result<Submission> submit(Owner& owner, Texts texts);
  // Submits texts with a separate owner and calls `done` once they are over. Every `out` must be null, `caller_helps`
  // false, and `limits` unbounded. Returns the errors of submit(), and kOutOfMemory if no thread can be created to
  // compute the texts; `done` is not called then.
  [[nodiscard]] core::Result<Ticket> submit_and_tell(Texts texts, Done done);

  [[nodiscard]] QueueState queue_state() const;

 private:
  class ScratchLease;

  [[nodiscard]] std::shared_ptr<Work> make_work(Texts& texts) const;
  [[nodiscard]] Part make_part(const Work& work, const Wanted& wanted) const;
  // Adds the work to the queue. Returns kBusy if the queue is full.
  [[nodiscard]] core::Status enqueue(const std::shared_ptr<Work>& work, std::uint64_t queue_tokens_max)
      LB_REQUIRES(mutex_);
  // Calls `done` for the finished submissions.
  void tell_done() noexcept LB_EXCLUDES(mutex_);

  void dispatch(std::shared_ptr<Run>* for_caller) noexcept LB_REQUIRES(mutex_);
  void begin(const std::shared_ptr<Work>& seed, std::shared_ptr<Run>* for_caller) noexcept LB_REQUIRES(mutex_);
  [[nodiscard]] std::shared_ptr<Work> next_work(bool of_those_who_compute) const LB_REQUIRES(mutex_);
  [[nodiscard]] std::shared_ptr<Run> form(const std::shared_ptr<Work>& seed) LB_REQUIRES(mutex_);
  void finish(const Run& run, const core::Status& status) noexcept LB_REQUIRES(mutex_);
  void leave(Work& work) noexcept LB_REQUIRES(mutex_);
  void note_if_over(const std::shared_ptr<Work>& work) noexcept LB_REQUIRES(mutex_);

  // Like queue_state().
  [[nodiscard]] QueueState state() const noexcept LB_REQUIRES(mutex_);
  static core::Status in_batch(core::Status error, std::uint64_t position, const Run& run);
  // Returns whether the device that answered left the padding out, whichever device the batch was formed for.
  [[nodiscard]] static bool leaves_padding_out(const Run& run) noexcept;
  [[nodiscard]] static BatchRecord record_of(const Run& run, std::chrono::steady_clock::duration time);
  // Returns whether the calling thread is inside a run of any scheduler.
  [[nodiscard]] static bool is_within_run() noexcept;
  [[nodiscard]] core::Status execute(Run& run);
  [[nodiscard]] static core::Status check_results(const BatchPiece& piece, const Run& run);
  [[nodiscard]] core::Status compute(Run& run) noexcept;
  void compute_on_team(std::shared_ptr<Run> run) noexcept;
  [[nodiscard]] core::Status wait(const std::shared_ptr<Work>& work, const core::RunOptions& limits, bool until_begun);
  [[nodiscard]] core::Status work_until(const std::shared_ptr<Work>& work, const core::RunOptions& limits,
                                        bool until_begun) LB_REQUIRES(mutex_);
  void abandon(Work& work) noexcept;

  const Forward& forward_;
  core::ThreadPool& team_;
  const std::size_t requests_;
  const std::size_t batch_tokens_;
  const std::size_t longest_;
  const OnBatch on_batch_;

  mutable core::Mutex mutex_;
  FairQueue queue_ LB_GUARDED_BY(mutex_);  // of Work
  BatchFormer former_ LB_GUARDED_BY(mutex_);
  std::vector<Run*> running_ LB_GUARDED_BY(mutex_);  // at most requests_, besides nested runs
  std::size_t submissions_ LB_GUARDED_BY(mutex_) = 0;
  std::uint64_t running_tokens_ LB_GUARDED_BY(mutex_) = 0;
  // Finished work, linked through Work::next_over without allocation.
  std::shared_ptr<Work> over_ LB_GUARDED_BY(mutex_);

  core::Mutex scratch_mutex_;
  std::vector<std::unique_ptr<Forward::Scratch>> idle_scratch_ LB_GUARDED_BY(scratch_mutex_);  // at most requests_
};

}  // namespace latebind::embedding
