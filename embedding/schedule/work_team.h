// WorkTeam: a small team of worker threads.
//
// Threads start when they are first needed and stay, because vendor runtimes keep state for each thread that calls
// them. Their nice value is at least that of the thread that made the team, whichever thread starts them. Tasks start
// in the order in which they arrive, and before any thread helps with shared work. All calls are thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "core/platform/thread.h"
#include "core/threads/mutex.h"

namespace latebind::embedding {

class WorkTeam {
 public:
  // Must not throw.
  using Task = std::function<void()>;

  explicit WorkTeam(std::size_t threads_max);
  WorkTeam(const WorkTeam&) = delete;
  WorkTeam& operator=(const WorkTeam&) = delete;
  // Waits for the tasks that have begun and drops the others.
  ~WorkTeam();

  // Returns whether a thread exists for a task; starts the first one if necessary. Returns false if the system cannot
  // create a thread.
  [[nodiscard]] bool has_thread();
  // Submits a task. At least one thread must exist.
  void post(Task task);

  // Calls work(piece) once for each piece from 0 to pieces - 1, on the calling thread and on up to `helpers_max`
  // threads of the team while no task waits for them. Returns when all calls have returned. `work` must not throw.
  void share(std::size_t pieces, std::size_t helpers_max, const std::function<void(std::size_t)>& work);

 private:
  class Shared;

  void run();
  // Requests help, and returns true, unless threads_max_ requests wait already.
  bool ask_for_help(Task help);
  // Starts threads for the waiting tasks, as far as the system allows.
  void start_threads(std::size_t wanted) LB_REQUIRES(mutex_);
  [[nodiscard]] bool has_task();

  const std::size_t threads_max_;
  const int nice_;

  core::Mutex mutex_;
  core::Condition work_came_;
  std::deque<Task> tasks_ LB_GUARDED_BY(mutex_);
  std::deque<Task> help_ LB_GUARDED_BY(mutex_);  // for threads without a task; at most threads_max_
  std::vector<platform::Thread> threads_ LB_GUARDED_BY(mutex_);
  std::size_t idle_ LB_GUARDED_BY(mutex_) = 0;
  bool stopping_ LB_GUARDED_BY(mutex_) = false;
};

}  // namespace latebind::embedding
