// The identity of an open file, with one implementation per system. Internal to core/platform.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::platform {

// `handle` is a descriptor, or on Windows a HANDLE; `file` is for messages. Fails as file_identity() does. Any thread.
[[nodiscard]] core::Result<FileIdentity> identity_of_open_file(std::intptr_t handle, const std::filesystem::path& file);

}  // namespace latebind::platform
