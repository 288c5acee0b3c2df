// WorkTeam: a small team of worker threads.
//
// Threads start when first needed and stay, because vendor runtimes keep state for each thread that calls them. They
// make way for others as much as the thread that made the team, whichever thread they are needed by. Tasks are started
// in the order in which they came, and before any thread helps with shared work. All calls are thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "core/platform/thread.h"

namespace latebind::embedding {

class WorkTeam {
 public:
  // Must not throw.
  using Task = std::function<void()>;

  explicit WorkTeam(std::size_t threads_max);
  WorkTeam(const WorkTeam&) = delete;
  WorkTeam& operator=(const WorkTeam&) = delete;
  // Waits for the tasks that have begun; the others are dropped.
  ~WorkTeam();

  // Whether there is a thread for a task; starts the first one. False when the system cannot create one.
  [[nodiscard]] bool has_thread();
  // Submits a task. At least one thread must exist.
  void post(Task task);

  // Calls work(piece) once for each of 0 … pieces - 1, on the calling thread and on up to `helpers_max` of the team as
  // long as no task waits for them. Returns when all are done.
  void share(std::size_t pieces, std::size_t helpers_max, const std::function<void(std::size_t)>& work);

 private:
  class Shared;

  void run();
  // Requests help unless as many requests wait as there are threads. Returns whether it did.
  bool ask_for_help(Task help);
  // Starts threads for what waits, as far as the system allows. `mutex_` is held.
  void start_threads(std::size_t wanted);
  [[nodiscard]] bool has_task();

  const std::size_t threads_max_;
  const int nice_;

  std::mutex mutex_;
  std::condition_variable work_came_;
  // Guarded by mutex_.
  std::deque<Task> tasks_;
  std::deque<Task> help_;  // for whom there is no task; at most threads_max_
  std::vector<platform::Thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace latebind::embedding
