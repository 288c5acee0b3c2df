// Converts errors of the operating system to a Status. Internal to core/platform and to readers of files: all code that
// accesses a file by name creates its errors here, so that they read alike.
//
// All functions may be called from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::platform {

// Returns the path in UTF-8 between single quotes, on one line: control characters are written as \xNN.
[[nodiscard]] std::string quoted(const std::filesystem::path& path);

// Rejects paths that must not be passed to a system call: an empty path, and one with a zero byte, which a system call
// would read as a shorter path. `action` is a verb, such as "open".
[[nodiscard]] core::Status check_path(std::string_view action, const std::filesystem::path& path);

// Returns "cannot <action> '<path>': <reason>" and, if one helps, a remedy. `error` is an errno value.
[[nodiscard]] core::Status status_of_errno(std::string_view action, const std::filesystem::path& path, int error);

// Returns only the code: kNotFound, kPermissionDenied, kDiskFull, kOutOfMemory, kInvalidArgument, otherwise kIo.
[[nodiscard]] core::StatusCode code_of_errno(int error);

}  // namespace latebind::platform
