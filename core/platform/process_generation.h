// Which process this is, when programs fork: a number that is another one in a child than in its parent.
//
// After fork() a child has the memory of its parent, and of its threads the one that forked alone. What stands on
// threads, or has something outside of the process that belongs to the parent, asks before it goes on. One atomic read;
// any thread.
#pragma once

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

}  // namespace latebind::platform
