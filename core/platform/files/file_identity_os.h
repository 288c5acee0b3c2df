// The identity of an open file; one implementation per system. Internal to core/platform.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::platform {

// `handle` is a descriptor, on Windows a HANDLE; `file` is for messages. The errors of file_identity(). Any thread.
[[nodiscard]] core::Result<FileIdentity> identity_of_open_file(std::intptr_t handle, const std::filesystem::path& file);

}  // namespace latebind::platform
