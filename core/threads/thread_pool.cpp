#include "core/threads/thread_pool.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "core/platform/thread_nice.h"

namespace latebind::core {

// Pieces of work that several threads take one after the other. Only pieces that a thread has taken are waited for; a
// thread that arrives after the last piece was taken has no work.
class ThreadPool::Shared {
 public:
  Shared(std::size_t pieces, const std::function<void(std::size_t)>& work) : pieces_(pieces), work_(work) {}

  // Takes pieces until none is left or `is_enough` says so.
  template <class IsEnough>
  void help(IsEnough is_enough) {
    const MutexLock lock(mutex_);
    while (next_ < pieces_ && !is_enough()) {
      const std::size_t piece = next_++;
      {
        const MutexUnlock unlocked(mutex_);
        work_(piece);
      }
      if (++done_ == pieces_) all_done_.notify_all();
    }
  }

  void wait() {
    const MutexLock lock(mutex_);
    all_done_.wait(mutex_, [this]() LB_REQUIRES(mutex_) { return done_ == pieces_; });
  }

 private:
  const std::size_t pieces_;
  const std::function<void(std::size_t)>& work_;  // owned by the caller, which waits for every piece

  Mutex mutex_;
  Condition all_done_;
  std::size_t next_ LB_GUARDED_BY(mutex_) = 0;
  std::size_t done_ LB_GUARDED_BY(mutex_) = 0;
};

ThreadPool::ThreadPool(std::size_t threads_max) : nice_(platform::thread_nice()), threads_max_(threads_max) {}

ThreadPool::~ThreadPool() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_came_.notify_all();
  for (platform::Thread& thread : threads_)
    thread.join();
}

void ThreadPool::start_threads(std::size_t wanted) {
  while (threads_.size() < threads_max_ && idle_ < wanted) {
    try {
      threads_.emplace_back([this] { run(); });
      ++idle_;
    } catch (const std::exception&) {
      return;  // the system cannot create a thread: the existing ones do the work
    }
  }
}

void ThreadPool::allow(std::size_t threads_max) {
  const MutexLock lock(mutex_);
  threads_max_ = std::max(threads_max_, threads_max);
}

bool ThreadPool::has_thread() {
  const MutexLock lock(mutex_);
  if (threads_.empty()) start_threads(1);
  return !threads_.empty();
}

void ThreadPool::post(Task task) {
  {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    start_threads(tasks_.size() + help_.size());
  }
  work_came_.notify_one();
}

bool ThreadPool::ask_for_help(Task help) {
  {
    const MutexLock lock(mutex_);
    if (help_.size() >= threads_max_) return false;
    help_.push_back(std::move(help));
    start_threads(tasks_.size() + help_.size());
  }
  work_came_.notify_one();
  return true;
}

bool ThreadPool::has_task() {
  const MutexLock lock(mutex_);
  return !tasks_.empty();
}

void ThreadPool::share(std::size_t pieces, std::size_t helpers_max, const std::function<void(std::size_t)>& work) {
  const auto shared = std::make_shared<Shared>(pieces, work);
  try {
    std::size_t helpers = 0;
    while (helpers < std::min(helpers_max, pieces) &&
           ask_for_help([this, shared] { shared->help([this] { return has_task(); }); })) {
      ++helpers;
    }
  } catch (const std::exception&) {
    // If memory runs out for requesting help, the caller does the work alone.
  }
  shared->help([] { return false; });
  shared->wait();
}

void ThreadPool::run() {
  platform::make_way(nice_);
  const MutexLock lock(mutex_);
  while (true) {
    work_came_.wait(mutex_, [this]() LB_REQUIRES(mutex_) { return stopping_ || !tasks_.empty() || !help_.empty(); });
    if (stopping_) return;
    std::deque<Task>& first = tasks_.empty() ? help_ : tasks_;
    Task task = std::move(first.front());
    first.pop_front();
    --idle_;
    {
      const MutexUnlock unlocked(mutex_);
      task();
      task = nullptr;
    }
    ++idle_;
  }
}

}  // namespace latebind::core
