// An operator new for the whole process that fails when it is told to. The memory of fake vendors' libraries is never
// refused: what they would make of that shows nothing of ours.
#pragma once

#include <cstdint>

namespace latebind::test {

enum class Refusal {
  kOnce,        // the n-th allocation alone
  kFromThenOn,  // and all that follow
};

// Counts from now on, on all threads, and refuses the n-th, from 1.
void refuse_allocation(std::uint64_t n, Refusal refusal);

// How many were counted since then.
std::uint64_t allocations_counted();

// While one lives, its thread is neither counted nor refused: for what tests do themselves.
class Spared {
 public:
  Spared();
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;
  ~Spared();

  // And while one of these lives, it is again.
  class Pause {
   public:
    Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause();
  };
};

// No more. True when one was refused.
bool stop_refusing();

}  // namespace latebind::test
