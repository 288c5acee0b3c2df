#include "core/platform/thread_nice.h"

namespace latebind::platform {

int thread_nice() noexcept {
  return 0;
}

// On Windows, a thread of lower priority gets no time at all while others want the processor.
void make_way(int /*nice*/) noexcept {}

}  // namespace latebind::platform
