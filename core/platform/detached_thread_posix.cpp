#include <utility>

#include "core/platform/detached_thread.h"
#include "core/platform/thread.h"

namespace latebind::platform {

void run_detached(std::function<void()> work) {
  Thread(std::move(work)).detach();
}

}  // namespace latebind::platform
