#include "core/platform/thread_slice.h"

namespace latebind::platform {

// Windows prefers a thread that has waited for input by itself.
void prefer_short_slices() noexcept {}

}  // namespace latebind::platform
