// Converts paths to the form that Windows calls take. Internal to core/platform's Windows files.
//
// All functions may be called from any thread, as long as none changes the current folder meanwhile.
#pragma once

#include <filesystem>
#include <string>

namespace latebind::platform {

// Returns the path itself or, if it is too long for calls that are limited to 260 characters (248 for a folder), the
// full path with `\\?\` before it, which has no such limit. A path that cannot be resolved stays as it is, so that the
// call reports the error.
[[nodiscard]] std::wstring long_path(const std::filesystem::path& path);

// Removes the `\\?\` that long_path() and the system itself add.
[[nodiscard]] std::filesystem::path plain_path(std::wstring text);

}  // namespace latebind::platform
