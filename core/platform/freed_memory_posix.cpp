#include <malloc.h>

#include "core/platform/freed_memory.h"

namespace latebind::platform {

// By itself, glibc returns only memory at the end of a heap, not memory between blocks in use.
bool return_freed_memory() noexcept {
  return ::malloc_trim(0) != 0;
}

}  // namespace latebind::platform
