#include "core/platform/thread_nice.h"

namespace latebind::platform {

int thread_nice() noexcept {
  return 0;
}

// A lower priority there means no time at all while others want it.
void make_way(int /*nice*/) noexcept {}

}  // namespace latebind::platform
