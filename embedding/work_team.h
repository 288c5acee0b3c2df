// WorkTeam: a few threads that help whoever has many independent pieces of work.
//
// Threads start when they are first wanted and stay, because vendor runtimes keep state for each thread that calls
// them. Pieces of earlier work come before pieces of later work. All calls are thread-safe; every Work must be finished
// or abandoned before it, or the team, goes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace latebind::embedding {

class WorkTeam {
 public:
  class Work {
   public:
    Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    virtual ~Work() = default;

    // Called once for each piece, from any thread, lower numbers first.
    virtual void run_piece(std::size_t piece) noexcept = 0;

   private:
    friend class WorkTeam;
    // All guarded by the team's mutex_.
    std::size_t pieces_ = 0;
    std::size_t next_ = 0;  // the first piece that nobody has taken
    std::size_t done_ = 0;
    std::size_t helpers_ = 0;
    std::size_t helpers_max_ = 0;
  };

  explicit WorkTeam(std::size_t threads_max) : threads_max_(threads_max) {}
  WorkTeam(const WorkTeam&) = delete;
  WorkTeam& operator=(const WorkTeam&) = delete;
  ~WorkTeam();

  [[nodiscard]] std::size_t threads_max() const { return threads_max_; }

  // Hands over pieces 0 … pieces - 1; at most `helpers_max` threads of the team take some at one time.
  void submit(Work& work, std::size_t pieces, std::size_t helpers_max);
  // Takes pieces on the calling thread until nobody has to take one.
  void help(Work& work);
  // Waits until every piece is done; then the work is the caller's again. Helps if the team has no thread.
  void finish(Work& work);
  // Drops the pieces that nobody has taken, then finishes.
  void abandon(Work& work);
  [[nodiscard]] bool is_done(const Work& work) const;

 private:
  void run();
  Work* next_work();
  void run_pieces(Work& work, std::unique_lock<std::mutex>& lock);

  const std::size_t threads_max_;

  mutable std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable piece_done_;
  // Guarded by mutex_.
  std::vector<Work*> works_;  // in the order in which they came
  std::vector<std::thread> threads_;
  bool stopping_ = false;
};

}  // namespace latebind::embedding
