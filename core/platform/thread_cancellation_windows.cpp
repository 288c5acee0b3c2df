#include "core/platform/thread_cancellation.h"

namespace latebind::platform {

// The system knows no such thing.
NoThreadCancellation::NoThreadCancellation() noexcept = default;
NoThreadCancellation::~NoThreadCancellation() = default;

}  // namespace latebind::platform
