#include "core/platform/process_generation.h"

namespace latebind::platform {

// No process is a copy of another here.
unsigned process_generation() noexcept {
  return 0;
}

}  // namespace latebind::platform
