// Scheduler: which texts are computed next, and together with which.
//
// Owners (a call of embed(), a stream) submit tokenized texts. Whenever the device has a free request, the next batch
// is formed: from the owner whose turn would begin first if all had the same share of the device. A turn is a batch;
// all texts of an owner with no more than twice the budget of a batch are one turn. So many texts of one
// do not delay the few of another by more than a batch, nor many calls of one text each the many texts of one, and
// calls of few texts are over in the order in which they came, whatever their sizes: they wait no longer than the queue
// is long. A single text on an idle device runs at once.
//
// A batch is formed when the device has a request for it. Where padding costs nothing, it is filled in the order of
// turns; elsewhere with those texts of those who came first that are computed best together with the longest text of
// that owner (batching.h). Texts that are to share no batch are divided when they are submitted, so that they are
// computed in the same batches whatever others do.
//
// Source of the fair order: Goyal, Vin, Cheng, "Start-time Fair Queuing" (1996), with turns for packets. The clock
// counts those who really wait: owners of one text come and go.
//
// All calls are thread-safe. All submissions must be destroyed before the scheduler.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/executable.h"
#include "core/result.h"
#include "embedding/batching.h"
#include "embedding/embed_stats.h"
#include "embedding/forward.h"
#include "embedding/inputs/token_table.h"
#include "embedding/work_team.h"

namespace latebind::embedding {

// A run of the model that ended well, for who counts them.
struct BatchRecord {
  std::size_t texts = 0;
  std::size_t rows = 0;   // of the tensors: more than `texts` where the shape is static
  std::size_t width = 0;  // tokens of each row, padding included
  std::uint64_t tokens = 0;
  std::uint64_t computed_tokens = 0;  // with the padding, where that was computed
  std::size_t owners = 0;             // whose texts they are
  std::chrono::steady_clock::duration time{};
};

// What waits and what runs, at one moment.
struct QueueState {
  std::size_t waiting_texts = 0;  // in batches that have not begun
  std::uint64_t waiting_tokens = 0;
  std::size_t running_batches = 0;
  std::uint64_t running_tokens = 0;  // of their texts

  // Whether `more` tokens may wait where at most `most` may wait or run: whoever comes last waits for both. Any number
  // may while nothing waits, for a request that is longer than that would never be computed otherwise.
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
  // What an owner present all the time would have been given, in parts of a token (kPartsOfToken).
  using FairTime = std::uint64_t;
  struct Work;
  struct Part;
  struct Run;
  struct Piece;

 public:
  // Existing submissions, of all owners together. More are kBusy.
  static constexpr std::size_t kSubmissionsMax = 4096;

  // The device is shared between owners by tokens. An owner must outlive its submissions.
  class Owner {
    friend class Scheduler;
    // Guarded by the scheduler's mutex_.
    std::uint64_t waiting_tokens_ = 0;
    FairTime turn_begins_ = 0;  // its last turn, with equal shares
    FairTime turn_ends_ = 0;
    std::uint64_t turn_tokens_ = 0;  // as expected, and what was taken of it so far
    std::uint64_t turn_taken_ = 0;
    bool is_short_ = false;  // everything that waits is one turn
  };

  // An output whose results are wanted, by its position among the forward's.
  struct Wanted {
    std::size_t output = 0;
    // Where rows go, in the order of the texts; ragged rows one after the other. Null: into memory of the submission's,
    // as sparse rows always do.
    float* out = nullptr;
  };

  // What an owner submits.
  struct Texts {
    TokenTable tokens;
    // Of the first text, for errors.
    std::uint64_t first_position = 0;
    // The outputs that are wanted. Nothing: the forward's first.
    std::vector<Wanted> wanted{};
    // More follows at once (a stream's next window): the last batches need not get smaller.
    bool more_follows = false;
    // Only these texts in their batches: the batches depend on nothing else.
    bool alone = false;
    // The waiting thread computes too, so that a single text is computed by the thread that wants it.
    bool caller_helps = false;
    // With any, the owner may be destroyed while they are computed, which is then abandoned: every `out` must be null.
    core::RunOptions limits{};
    // kBusy when more tokens would wait or run, unless nothing waits; 0: any number may.
    std::uint64_t queue_tokens_max = 0;
  };

  // When a submission's parts began and ended.
  struct Times {
    std::chrono::steady_clock::time_point submitted{};
    std::chrono::steady_clock::time_point begun{};  // its first batch
    std::chrono::steady_clock::time_point over{};   // its last one
  };

  // Submitted texts. One thread at a time, and none in wait() on destruction: then what has not begun is dropped, and
  // what has is waited for, or abandoned where the texts have limits.
  class Submission {
   public:
    Submission() = default;
    Submission(Submission&&) noexcept = default;
    Submission& operator=(Submission&& other) noexcept;
    ~Submission();

    [[nodiscard]] bool is_over() const;
    // Computes on this thread, if it may, until no batch is left to begin. Otherwise like wait(), without the errors of
    // the texts.
    [[nodiscard]] core::Status help(const core::RunOptions& limits = {});
    // Until it is over: its first error, by the text's position, if it has one (kInternal for a vector that is not
    // finite: a retry gives the same). kDeadlineExceeded or kCancelled when `limits` end before that; the work then
    // continues.
    [[nodiscard]] core::Status wait(const core::RunOptions& limits = {});

    // Of what is finished and succeeded; `part` is a position in Texts::wanted.
    [[nodiscard]] std::span<const float> vectors(std::size_t part = 0) const;
    [[nodiscard]] std::span<const std::uint32_t> token_counts() const;
    // How many vectors of tokens each text has.
    [[nodiscard]] std::span<const std::uint32_t> vector_counts() const;
    // Except seconds.
    [[nodiscard]] EmbedStats stats() const;
    // Which device computed them: a fallback, where one did.
    [[nodiscard]] std::shared_ptr<const core::Attestation> answered_by() const;
    // Once it is over.
    [[nodiscard]] Times times() const;
    // Its memory, for reuse.
    [[nodiscard]] TokenTable take_tokens();
    // What vectors() refers to, and sparse rows, once it is over.
    [[nodiscard]] std::vector<float> take_vectors(std::size_t part = 0);
    [[nodiscard]] std::vector<SparseVector> take_sparse(std::size_t part = 0);

   private:
    friend class Scheduler;
    Submission(Scheduler& scheduler, std::shared_ptr<Work> work) : scheduler_(&scheduler), work_(std::move(work)) {}
    void drop() noexcept;

    Scheduler* scheduler_ = nullptr;
    std::shared_ptr<Work> work_;  // null: nothing
  };

  // For who waits on no thread: the submission once it is over, whose wait() then returns at once. Called exactly once,
  // on a thread that computes or within submit_and_tell() or drop(), under none of the scheduler's locks; must be short
  // and must not throw.
  using Done = std::function<void(Submission)>;

  // Refers to texts that were submitted with a Done. Any thread.
  class Ticket {
   public:
    Ticket() = default;
    // What has not begun is not computed any more, and the submission's error is kCancelled. Does nothing when it is
    // over. The scheduler must still exist.
    void drop() const;

   private:
    friend class Scheduler;
    Ticket(Scheduler& scheduler, std::weak_ptr<Work> work) : scheduler_(&scheduler), work_(std::move(work)) {}
    Scheduler* scheduler_ = nullptr;
    std::weak_ptr<Work> work_;
  };

  // Called after each run, on the thread that computed it, under no lock; must be short and must not throw.
  using OnBatch = std::function<void(const BatchRecord&)>;

  // `batch_tokens` and `longest` at least 1; see BatchLimits. `on_batch` may be empty.
  Scheduler(const Forward& forward, WorkTeam& team, std::size_t requests, std::size_t batch_tokens, std::size_t longest,
            OnBatch on_batch = {});
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  // kBusy when too much is waiting already.
  [[nodiscard]] core::Result<Submission> submit(Owner& owner, Texts texts);
  // The texts have an owner of their own; every `out` is null, `caller_helps` is false and there are no limits. Besides
  // the errors of submit(), with which `done` is never called: kOutOfMemory when no thread can be created to compute
  // them.
  [[nodiscard]] core::Result<Ticket> submit_and_tell(Texts texts, Done done);

  [[nodiscard]] QueueState queue_state() const;

 private:
  class ScratchLease;
  // A text that waits.
  struct Candidate {
    const std::shared_ptr<Work>* work;
    std::uint32_t row;
    std::uint32_t length;
  };

  [[nodiscard]] std::shared_ptr<Work> make_work(Texts& texts) const;
  [[nodiscard]] Part make_part(const Work& work, const Wanted& wanted) const;
  // With mutex_ held: adds it to what waits.
  [[nodiscard]] core::Status enqueue(const std::shared_ptr<Work>& work, std::uint64_t queue_tokens_max);
  // Passes on what is over. Under no lock.
  void tell_done() noexcept;

  // All with mutex_ held.
  void dispatch(std::shared_ptr<Run>* for_caller) noexcept;
  void begin(const std::shared_ptr<Work>& seed, std::shared_ptr<Run>* for_caller) noexcept;
  [[nodiscard]] std::shared_ptr<Work> next_work(bool of_those_who_compute) const;
  [[nodiscard]] std::shared_ptr<Run> form(const std::shared_ptr<Work>& seed);
  [[nodiscard]] std::vector<Candidate> pool_for(const std::shared_ptr<Work>& seed) const;
  void choose(const std::shared_ptr<Work>& seed, Run& run) const;
  void choose_in_order(const std::shared_ptr<Work>& seed, Run& run) const;
  [[nodiscard]] static std::pair<FairTime, FairTime> turn_of(const Work& work) noexcept;
  void join(const Work& work) noexcept;
  void begin_turn(Owner& owner) const noexcept;
  void take(const Piece& piece) noexcept;
  void finish(const Run& run, const core::Status& status) noexcept;
  void stop_waiting(Work& work) noexcept;
  void leave(Work& work) noexcept;
  void note_if_over(const std::shared_ptr<Work>& work) noexcept;

  // As queue_state().
  [[nodiscard]] QueueState state() const noexcept;
  static core::Status in_batch(core::Status error, std::uint64_t position, const Run& run);
  [[nodiscard]] static std::uint64_t tokens_of(const Piece& piece) noexcept;
  // Whether the device that answered did, whatever device the batch was formed for.
  [[nodiscard]] static bool leaves_padding_out(const Run& run) noexcept;
  [[nodiscard]] static BatchRecord record_of(const Run& run, std::chrono::steady_clock::duration time);
  // Whether the calling thread is in a run of some scheduler's.
  [[nodiscard]] static bool is_within_run() noexcept;
  [[nodiscard]] core::Status execute(Run& run);
  [[nodiscard]] static core::Status check_results(const Piece& piece, const Run& run);
  [[nodiscard]] core::Status compute(Run& run) noexcept;
  void compute_on_team(std::shared_ptr<Run> run) noexcept;
  [[nodiscard]] core::Status wait(const std::shared_ptr<Work>& work, const core::RunOptions& limits, bool until_begun);
  void abandon(Work& work) noexcept;

  const Forward& forward_;
  WorkTeam& team_;
  const std::size_t requests_;
  const std::size_t batch_tokens_;
  const std::size_t longest_;
  const OnBatch on_batch_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  // With batches that have not begun, in the order in which they came; at most kSubmissionsMax.
  std::vector<std::shared_ptr<Work>> waiting_;
  std::vector<Run*> running_;  // at most requests_
  std::size_t submissions_ = 0;
  std::size_t waiting_texts_ = 0;
  std::uint64_t waiting_tokens_ = 0;
  std::uint64_t running_tokens_ = 0;
  std::shared_ptr<Work> over_;  // those to pass on, a list through Work::next_over: it needs no memory
  FairTime now_ = 0;
  ReadyShapes ready_;

  std::mutex scratch_mutex_;
  std::vector<std::unique_ptr<Forward::Scratch>> idle_scratch_;  // guarded by scratch_mutex_, at most requests_
};

}  // namespace latebind::embedding
