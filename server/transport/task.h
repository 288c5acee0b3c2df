// Coroutines of one connection: Task is a step that may wait, Signal is what it waits for.
//
// Internal to the transport. Everything runs on one executor, one thing at a time, so nothing here is locked.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace latebind::server {

// A step of a coroutine. It starts when awaited and passes its result or exception to the awaiting coroutine.
// Calling a coroutine may throw std::bad_alloc.
template <class T = void>
class [[nodiscard]] Task;

namespace detail {

struct TaskPromiseBase {
  std::coroutine_handle<> awaiting{};
  std::exception_ptr failure{};

  struct Return {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      return ended.promise().awaiting;
    }
    void await_resume() const noexcept {}
  };

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] Return final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failure = std::current_exception(); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> result{};
  Task<T> get_return_object();
  void return_value(T value) { result = std::move(value); }
  T take() {
    if (failure) std::rethrow_exception(failure);
    return *std::move(result);
  }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take() const {
    if (failure) std::rethrow_exception(failure);
  }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().awaiting = awaiting;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

template <class T>
Task<T> detail::TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}
inline Task<void> detail::TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

// The outermost coroutine. It starts when called and frees itself at its end. No exception may leave it.
struct DetachedTask {
  struct promise_type {
    [[nodiscard]] DetachedTask get_return_object() const noexcept { return {}; }
    [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

// Wakes one coroutine when something has happened. It does not say what, so the coroutine waits in a loop that tests
// its condition. A signal that is set while no coroutine waits ends the next wait at once.
class Signal {
 public:
  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // Resumes the waiting coroutine before it returns. The signal may be destroyed by then, together with the coroutine
  // that owns it.
  void set() {
    if (const auto waiting = std::exchange(waiting_, nullptr)) {
      waiting.resume();
    } else {
      is_set_ = true;
    }
  }

  [[nodiscard]] bool await_ready() noexcept { return std::exchange(is_set_, false); }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}

 private:
  std::coroutine_handle<> waiting_{};
  bool is_set_ = false;
};

}  // namespace latebind::server
