// The generation of this process: a number that differs between a child made by fork() and its parent.
//
// After fork() a child has the memory of its parent, but only the thread that forked. Code that relies on threads, or
// owns something outside of the process that belongs to the parent, checks the generation before it goes on. That is
// one atomic read. All functions may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <type_traits>

namespace latebind::platform {

[[nodiscard]] unsigned process_generation() noexcept;

// Calls `function` in every child that fork() makes from now on, before fork() returns there. It may only set atomic
// variables. For the initialisation of static variables; it cannot be undone.
void call_in_children(void (*function)()) noexcept;

// Returns the system's number of this process.
[[nodiscard]] std::uint64_t process_id() noexcept;

// Remembers the process that it was created in.
class MadeIn {
 public:
  MadeIn() noexcept : generation_(process_generation()) {}

  // False in a child that got this object by fork().
  [[nodiscard]] bool this_process() const noexcept { return generation_ == process_generation(); }

 private:
  unsigned generation_;
};

// An object that exists once per process and is new in each child, because a lock in it may be held forever by a thread
// that the child does not have. For static variables. It allocates nothing and is never destroyed, because vendors'
// threads may outlive main().
template <class T>
class PerProcess {
 public:
  PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  T& get() noexcept {
    static_assert(std::is_nothrow_default_constructible_v<T>);
    // A child uses the slot that its parent does not.
    const unsigned generation = process_generation();
    void* const place = places_[generation % 2].data();
    const std::uint64_t being_made = 2 * std::uint64_t{generation} + 1;
    const std::uint64_t made = being_made + 1;
    std::uint64_t known = state_.load(std::memory_order_acquire);
    while (known != made) {
      if (known == being_made) {
        std::this_thread::yield();
        known = state_.load(std::memory_order_acquire);
      } else if (state_.compare_exchange_weak(known, being_made, std::memory_order_acquire)) {
        new (place) T();
        state_.store(made, std::memory_order_release);
        known = made;
      }
    }
    return *std::launder(static_cast<T*>(place));
  }

 private:
  struct alignas(T) Place {
    std::array<std::byte, sizeof(T)> bytes;
    void* data() { return bytes.data(); }
  };
  std::array<Place, 2> places_{};
  std::atomic<std::uint64_t> state_{0};
};

}  // namespace latebind::platform
