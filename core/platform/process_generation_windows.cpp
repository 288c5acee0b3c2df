#include <windows.h>

#include "core/platform/process_generation.h"

namespace latebind::platform {

// No process is a copy of another here.
unsigned process_generation() noexcept {
  return 0;
}

void call_in_children(void (*)()) noexcept {}

std::uint64_t process_id() noexcept {
  return ::GetCurrentProcessId();
}

}  // namespace latebind::platform
