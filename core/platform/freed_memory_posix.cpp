#include <malloc.h>

#include "core/platform/freed_memory.h"

namespace latebind::platform {

// Glibc returns by itself what is free at the end of a heap, and nothing between what is in use.
bool return_freed_memory() noexcept {
  return ::malloc_trim(0) != 0;
}

}  // namespace latebind::platform
