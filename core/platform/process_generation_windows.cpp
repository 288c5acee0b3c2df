#include <windows.h>

#include "core/platform/process_generation.h"

namespace latebind::platform {

// On Windows, no process is a copy of another one.
unsigned process_generation() noexcept {
  return 0;
}

void call_in_children(void (*)()) noexcept {}

std::uint64_t process_id() noexcept {
  return ::GetCurrentProcessId();
}

}  // namespace latebind::platform
