// The system calls that FileLock stands on; one twin for each system. Internal to core/platform.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// The lock's handle, or null when somebody else holds it. Does not wait.
[[nodiscard]] core::Result<void*> try_lock_file(const std::filesystem::path& file);
void unlock_file(void* handle) noexcept;

}  // namespace latebind::platform
