#include "core/platform/thread_cancellation.h"

namespace latebind::platform {

// Not supported by this system.
NoThreadCancellation::NoThreadCancellation() noexcept = default;
NoThreadCancellation::~NoThreadCancellation() = default;

}  // namespace latebind::platform
