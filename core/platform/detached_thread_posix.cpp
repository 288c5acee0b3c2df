#include <thread>
#include <utility>

#include "core/platform/detached_thread.h"

namespace latebind::platform {

void run_detached(std::function<void()> work) {
  std::thread(std::move(work)).detach();
}

}  // namespace latebind::platform
