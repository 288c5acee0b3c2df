#include <unistd.h>

#include <thread>
#include <utility>

#include "core/platform/detached_thread.h"

namespace latebind::platform {

void run_detached(std::function<void()> work) {
  std::thread(std::move(work)).detach();
}

std::uint64_t process_id() {
  return static_cast<std::uint64_t>(::getpid());
}

}  // namespace latebind::platform
