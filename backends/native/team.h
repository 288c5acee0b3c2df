// Team: the threads that compute for one executable, which owns it.
//
// A run takes the idle helpers as its crew when it begins, and keeps them until its end. A single run gets all of them;
// concurrent runs share them. The number of threads in runs never exceeds the size of the team, except for the calling
// threads. Helpers start when they are first needed and then stay. Between two tasks, they spin for kPatience before
// they sleep.
//
// All functions are thread-safe. In a child made by fork() there are no helpers, and each run uses only its calling
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/platform/process_generation.h"
#include "core/threads/mutex.h"

namespace latebind::native {

inline constexpr std::chrono::microseconds kPatience{50};

class Team {
 public:
  // Must not throw.
  using Task = std::function<void(std::size_t member)>;

  // `threads` is at least 1 and includes the calling thread.
  explicit Team(std::size_t threads);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  // Requires that no call is in progress.
  ~Team();

  // The calling thread and the helpers it was given. The destructor returns them to the team.
  class Crew {
   public:
    Crew(Crew&& other) noexcept : team_(std::exchange(other.team_, nullptr)), helpers_(std::move(other.helpers_)) {}
    Crew& operator=(Crew&&) = delete;
    ~Crew();

    [[nodiscard]] std::size_t size() const { return helpers_.size() + 1; }
    // Calls task(member) for each member from 0 to size() - 1, with 0 on the calling thread, and returns after all
    // calls.
    void run(const Task& task);

   private:
    friend class Team;
    Crew(Team& team, std::vector<std::size_t> helpers) : team_(&team), helpers_(std::move(helpers)) {}
    Team* team_;
    std::vector<std::size_t> helpers_;
  };
  // Takes up to `most` threads, including the calling one.
  [[nodiscard]] Crew take(std::size_t most);

  [[nodiscard]] std::size_t threads() const { return threads_; }

 private:
  struct Helper;

  [[nodiscard]] static bool start(Helper& helper) noexcept;
  static void work(Helper& helper);

  const std::size_t threads_;
  const platform::MadeIn made_;
  core::Mutex mutex_;
  std::size_t busy_ LB_GUARDED_BY(mutex_) = 0;           // threads in runs, including the calling ones
  std::vector<std::size_t> idle_ LB_GUARDED_BY(mutex_);  // idle helpers
  // The vector's length is constant.
  std::vector<std::unique_ptr<Helper>> helpers_;
};

// A reusable barrier for the members of a crew.
class Barrier {
 public:
  explicit Barrier(std::size_t members) : members_(members) {}
  // Blocks until every member has called it as often as this thread.
  void wait();

 private:
  const std::size_t members_;
  std::atomic<std::size_t> missing_{members_};
  std::atomic<std::size_t> round_{0};
  core::Mutex mutex_;
  core::Condition over_;
};

}  // namespace latebind::native
