#include "core/platform/thread_slice.h"

namespace latebind::platform {

// There a thread that waited for input is preferred by itself.
void prefer_short_slices() noexcept {}

}  // namespace latebind::platform
