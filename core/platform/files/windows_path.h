// Paths as the calls of Windows take them. Internal to core/platform's Windows files.
//
// All functions may be called from any thread, as long as none changes the current folder meanwhile.
#pragma once

#include <filesystem>
#include <string>

namespace latebind::platform {

// The path itself, or, where it is too long for the calls that end at 260 characters (248 for a folder), the full path
// with `\\?\` before it, which has no such limit. What cannot be resolved stays as it is, so that the call reports the
// error.
[[nodiscard]] std::wstring long_path(const std::filesystem::path& path);

// Without the `\\?\` that long_path() and the system itself put there.
[[nodiscard]] std::filesystem::path plain_path(std::wstring text);

}  // namespace latebind::platform
