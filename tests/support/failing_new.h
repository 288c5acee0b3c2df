// An operator new for the whole process that fails when it is told to. The memory of vendors' libraries, fake or not,
// is never refused: what they would make of that shows nothing of ours.
#pragma once

#include <cstdint>

namespace latebind::test {

enum class Refusal {
  kOnce,        // the n-th allocation alone
  kFromThenOn,  // and all that follow
};

enum class Refused {
  kAll,
  kProviders,  // what Latebind's provider for ONNX Runtime allocates, and not the program that it is in
};

// Counts all allocations from now on, on all threads, and refuses the n-th, from 1, or the first after it that may be
// refused.
void refuse_allocation(std::uint64_t n, Refusal refusal, Refused whose = Refused::kAll);

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
