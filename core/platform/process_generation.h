// Which process this is, when programs fork: a number that is another one in a child than in its parent.
//
// After fork() a child has the memory of its parent, and of its threads the one that forked alone. What stands on
// threads, or has something outside of the process that belongs to the parent, asks before it goes on. One atomic read;
// any thread.
#pragma once

#include <atomic>

namespace latebind::platform {

[[nodiscard]] unsigned process_generation() noexcept;

// Remembers the process that it was made in.
class MadeIn {
 public:
  MadeIn() noexcept : generation_(process_generation()) {}

  // False in a child of that process, which has got this object by fork().
  [[nodiscard]] bool this_process() const noexcept { return generation_ == process_generation(); }

 private:
  unsigned generation_;
};

// What there is once in a process, and anew in each child, because a lock in it may be held for ever there by a thread
// that the child has not got. For static variables; never destroyed, since threads of vendors may outlive main().
template <class T>
class PerProcess {
 public:
  T& get() {
    Instance* known = current_.load(std::memory_order_acquire);
    while (known == nullptr || !known->made.this_process()) {
      auto* const made = new Instance;
      if (current_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made->value;
      delete made;
    }
    return known->value;
  }

 private:
  struct Instance {
    MadeIn made;
    T value{};
  };
  std::atomic<Instance*> current_{nullptr};
};

}  // namespace latebind::platform
