// ThreadPool: threads that do tasks in the order in which they arrive.
//
// Invariants: a task that was posted is done once, unless the pool is destroyed first; never more than the limit of
// threads exist; no task waits while a thread is idle; and a thread helps with shared work only while no task waits.
//
// Threads start when they are first needed and stay, because vendors' runtimes keep state for each thread that calls
// them. Their nice value is at least that of the thread that made the pool, whichever thread starts them. Any thread
// may call the functions.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "core/platform/thread.h"
#include "core/threads/mutex.h"

namespace latebind::core {

class ThreadPool {
 public:
  // Must not throw.
  using Task = std::function<void()>;

  explicit ThreadPool(std::size_t threads_max);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  // Waits for the tasks that have begun and drops the others.
  ~ThreadPool();

  // Raises the limit of threads to `threads_max` if it is lower.
  void allow(std::size_t threads_max);
  // Returns whether a thread exists for a task; starts the first one if necessary. Returns false if the system cannot
  // create a thread.
  [[nodiscard]] bool has_thread();
  // Submits a task. At least one thread must exist. Throws std::bad_alloc, and then has not taken the task.
  void post(Task task);

  // Calls work(piece) once for each piece from 0 to pieces - 1, on the calling thread and on up to `helpers_max`
  // threads of the pool while no task waits for them. Returns when all calls have returned. `work` must not throw.
  void share(std::size_t pieces, std::size_t helpers_max, const std::function<void(std::size_t)>& work);

 private:
  class Shared;

  void run();
  // Requests help, and returns true, unless as many requests wait as there may be threads.
  bool ask_for_help(Task help);
  // Starts threads for the waiting tasks, as far as the system allows.
  void start_threads(std::size_t wanted) LB_REQUIRES(mutex_);
  [[nodiscard]] bool has_task();

  const int nice_;

  Mutex mutex_;
  Condition work_came_;
  std::size_t threads_max_ LB_GUARDED_BY(mutex_);
  std::deque<Task> tasks_ LB_GUARDED_BY(mutex_);
  std::deque<Task> help_ LB_GUARDED_BY(mutex_);  // for threads without a task; at most threads_max_
  std::vector<platform::Thread> threads_ LB_GUARDED_BY(mutex_);
  std::size_t idle_ LB_GUARDED_BY(mutex_) = 0;
  bool stopping_ LB_GUARDED_BY(mutex_) = false;
};

}  // namespace latebind::core
