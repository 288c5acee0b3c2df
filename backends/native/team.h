// Team: the threads that compute for one executable.
//
// A run takes those that are free at its beginning as its crew, and works on with them until its end: one run at a time
// has all of them, and runs side by side have one each. There are never more threads in runs than the team is large,
// but for the threads that call. Helpers start when first needed and stay; between two tasks they look for the next one
// for kPatience before they sleep.
//
// All calls are thread-safe. A child made by fork() has no helpers: its runs are their callers' alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/platform/process_generation.h"

namespace latebind::native {

inline constexpr std::chrono::microseconds kPatience{50};

class Team {
 public:
  // Must not throw.
  using Task = std::function<void(std::size_t member)>;

  // At least 1: the caller's counts.
  explicit Team(std::size_t threads);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  // Nobody may be in a call.
  ~Team();

  // The calling thread and those helpers that it was given, which come back when this is destroyed.
  class Crew {
   public:
    Crew(Crew&& other) noexcept : team_(std::exchange(other.team_, nullptr)), helpers_(std::move(other.helpers_)) {}
    Crew& operator=(Crew&&) = delete;
    ~Crew();

    [[nodiscard]] std::size_t size() const { return helpers_.size() + 1; }
    // Calls task(member) for each of 0 … size() - 1, 0 on the calling thread. Returns when all have.
    void run(const Task& task);

   private:
    friend class Team;
    Crew(Team& team, std::vector<std::size_t> helpers) : team_(&team), helpers_(std::move(helpers)) {}
    Team* team_;
    std::vector<std::size_t> helpers_;
  };
  // Up to `most` threads, at least the calling one.
  [[nodiscard]] Crew take(std::size_t most);

  [[nodiscard]] std::size_t threads() const { return threads_; }

 private:
  struct Helper;

  [[nodiscard]] static bool start(Helper& helper) noexcept;
  static void work(Helper& helper);

  const std::size_t threads_;
  const platform::MadeIn made_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::size_t busy_ = 0;           // threads in runs, callers' among them
  std::vector<std::size_t> idle_;  // helpers
  // Its length is constant.
  std::vector<std::unique_ptr<Helper>> helpers_;
};

// Where the members of a crew wait for each other.
class Meeting {
 public:
  explicit Meeting(std::size_t members) : members_(members) {}
  // Returns when all have called it as often as this thread.
  void wait();

 private:
  const std::size_t members_;
  std::atomic<std::size_t> missing_{members_};
  std::atomic<std::size_t> round_{0};
  std::mutex mutex_;
  std::condition_variable over_;
};

}  // namespace latebind::native
