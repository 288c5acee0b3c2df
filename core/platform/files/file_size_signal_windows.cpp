#include "core/platform/files/file_size_signal.h"

namespace latebind::platform {

// The system knows no such thing.
NoFileSizeSignal::NoFileSizeSignal() noexcept = default;
NoFileSizeSignal::~NoFileSizeSignal() = default;

}  // namespace latebind::platform
