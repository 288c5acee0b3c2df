// Mutex, MutexLock, MutexUnlock and Condition: the standard library's, with annotations that clang's thread-safety
// analysis checks (scripts/test tidy). They cost what the standard library's cost. Other compilers see no annotations.
//
// Every mutex of the product is a Mutex, and what it guards says so:
//
//   core::Mutex mutex_;
//   core::Condition changed_;
//   std::size_t waiting_ LB_GUARDED_BY(mutex_) = 0;
//   void wake() LB_REQUIRES(mutex_);  // called with mutex_ held
//   void stop() LB_EXCLUDES(mutex_);  // locks mutex_ itself
//
// The analysis treats a lambda as a separate function. A predicate that reads guarded data therefore declares that its
// caller holds the mutex: changed_.wait(mutex_, [this]() LB_REQUIRES(mutex_) { return waiting_ == 0; }).
//
// The analysis knows an object by the expression that names it, so it cannot check the members of an element which the
// mutex of its owner guards. A comment names the mutex there.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define LB_THREAD_ANNOTATION_(annotation) __attribute__((annotation))
#else
#define LB_THREAD_ANNOTATION_(annotation)
#endif

// Of a variable: it is read and written only with the mutex held.
#define LB_GUARDED_BY(mutex) LB_THREAD_ANNOTATION_(guarded_by(mutex))
// Of a function: its caller holds the mutexes, or must not hold them because the function locks them.
#define LB_REQUIRES(...) LB_THREAD_ANNOTATION_(requires_capability(__VA_ARGS__))
#define LB_EXCLUDES(...) LB_THREAD_ANNOTATION_(locks_excluded(__VA_ARGS__))
// Of a function: it locks or unlocks the mutexes; without an argument, the object itself.
#define LB_ACQUIRE(...) LB_THREAD_ANNOTATION_(acquire_capability(__VA_ARGS__))
#define LB_RELEASE(...) LB_THREAD_ANNOTATION_(release_capability(__VA_ARGS__))
// Of a class: it is a mutex, or it holds one while it lives.
#define LB_MUTEX_CLASS LB_THREAD_ANNOTATION_(capability("mutex"))
#define LB_LOCK_CLASS LB_THREAD_ANNOTATION_(scoped_lockable)
// Of a function whose locking the analysis cannot follow. A comment says why.
#define LB_NOT_ANALYSED LB_THREAD_ANNOTATION_(no_thread_safety_analysis)

namespace latebind::core {

class LB_MUTEX_CLASS Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() LB_ACQUIRE() { mutex_.lock(); }
  void unlock() LB_RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// A mutex that the thread which holds it may lock again.
class LB_MUTEX_CLASS RecursiveMutex {
 public:
  RecursiveMutex() = default;
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;

  void lock() LB_ACQUIRE() { mutex_.lock(); }
  void unlock() LB_RELEASE() { mutex_.unlock(); }

 private:
  std::recursive_mutex mutex_;
};

// Holds a mutex while it lives.
template <class AnyMutex>
class LB_LOCK_CLASS MutexLock {
 public:
  explicit MutexLock(AnyMutex& mutex) LB_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() LB_RELEASE() { mutex_.unlock(); }

 private:
  AnyMutex& mutex_;
};

// Releases a mutex that its thread holds, and locks it again when it is destroyed.
class LB_LOCK_CLASS MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) LB_RELEASE(mutex) : mutex_(mutex) { mutex_.unlock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;
  ~MutexUnlock() LB_RELEASE() { mutex_.lock(); }  // the annotation ends the scope: the mutex is held again

 private:
  Mutex& mutex_;
};

// Lets a thread that holds a mutex wait until another one changes what the mutex guards. A wait releases the mutex
// meanwhile and holds it again when it returns or throws. A wait without a predicate may return without a reason.
class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  void wait(Mutex& mutex) LB_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  template <class Clock, class Duration>
  std::cv_status wait_until(Mutex& mutex, const std::chrono::time_point<Clock, Duration>& until) LB_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = condition_.wait_until(lock, until);
    lock.release();
    return status;
  }

  // The predicates of those below require the mutex, which the analysis cannot see through their type.
  template <class Predicate>
  void wait(Mutex& mutex, const Predicate& is_so) LB_REQUIRES(mutex) LB_NOT_ANALYSED {
    while (!is_so())
      wait(mutex);
  }

  // Return false if the time is up and the predicate does not hold.
  template <class Clock, class Duration, class Predicate>
  bool wait_until(Mutex& mutex, const std::chrono::time_point<Clock, Duration>& until, const Predicate& is_so)
      LB_REQUIRES(mutex) LB_NOT_ANALYSED {
    while (!is_so()) {
      if (wait_until(mutex, until) == std::cv_status::timeout) return is_so();
    }
    return true;
  }

  template <class Rep, class Period, class Predicate>
  bool wait_for(Mutex& mutex, const std::chrono::duration<Rep, Period>& time, const Predicate& is_so)
      LB_REQUIRES(mutex) LB_NOT_ANALYSED {
    return wait_until(mutex, std::chrono::steady_clock::now() + time, is_so);
  }

 private:
  std::condition_variable condition_;
};

}  // namespace latebind::core
