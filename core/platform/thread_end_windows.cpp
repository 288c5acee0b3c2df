#include <array>
#include <cstddef>

#include "core/platform/thread_end.h"

namespace latebind::platform {
namespace {

// thread_local variables are allocated here, and freed by a key of winpthreads: what the system or another key calls
// may come after that, and only destructors are certain to come before.
struct Calls {
  struct Call {
    void (*action)(void*);
    void* given;
  };
  static constexpr std::size_t kMost = 8;

  std::array<Call, kMost> all{};
  std::size_t count = 0;

  ~Calls() {
    while (count > 0) {
      --count;
      all[count].action(all[count].given);
    }
  }
};

}  // namespace

ThreadEnd::ThreadEnd(void (*action)(void*)) noexcept : action_(action) {}

bool ThreadEnd::call_with(void* given) const noexcept {
  thread_local Calls calls;
  if (calls.count == Calls::kMost) return false;
  calls.all[calls.count++] = {action_, given};
  return true;
}

}  // namespace latebind::platform
