// The system calls that FileLock uses, with one implementation per system. Internal to core/platform.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// Returns the lock's handle, or -1 when another holder has the lock. Does not wait.
[[nodiscard]] core::Result<std::intptr_t> try_lock_file(const std::filesystem::path& file);
void unlock_file(std::intptr_t handle) noexcept;
void unlock_and_remove_file(std::intptr_t handle, const std::filesystem::path& file) noexcept;

}  // namespace latebind::platform
