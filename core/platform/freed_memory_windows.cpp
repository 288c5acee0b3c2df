#include "core/platform/freed_memory.h"

namespace latebind::platform {

bool return_freed_memory() noexcept {
  return false;
}

}  // namespace latebind::platform
