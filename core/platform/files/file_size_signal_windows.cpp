#include "core/platform/files/file_size_signal.h"

namespace latebind::platform {

// Not supported by this system.
NoFileSizeSignal::NoFileSizeSignal() noexcept = default;
NoFileSizeSignal::~NoFileSizeSignal() = default;

}  // namespace latebind::platform
