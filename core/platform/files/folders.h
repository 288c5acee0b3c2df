// The standard folders of the system (XDG on Linux, Known Folders on Windows), and functions on paths. Nothing is
// created here.
//
// On Linux a variable that holds a relative path counts as unset, and in a privileged process all of them do. All
// functions may be called from any thread, as long as no thread changes the environment meanwhile.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// Returns $XDG_CACHE_HOME/latebind, or ~/.cache/latebind; on Windows the local application data. Fails when there is no
// home folder.
[[nodiscard]] core::Result<std::filesystem::path> cache_folder();

// Returns $XDG_CONFIG_HOME/latebind, or ~/.config/latebind; on Windows the roaming application data.
[[nodiscard]] core::Result<std::filesystem::path> config_folder();

// Returns /etc/latebind; on Windows a folder below the program data.
[[nodiscard]] std::filesystem::path system_config_folder();

// Returns the user's home, from the environment or else from the user database.
[[nodiscard]] core::Result<std::filesystem::path> home_folder();

// Returns a path that leads to the same file after the working folder has changed: absolute, if the working folder is
// known. Links are not resolved.
[[nodiscard]] std::filesystem::path anchored(const std::filesystem::path& file);

// Returns the path without a slash at the end: "a/b" for "a/b/".
[[nodiscard]] std::filesystem::path without_slash(const std::filesystem::path& folder);

// Whether a place is the folder itself or below it. It compares only names, so both must be canonical, or absolute and
// without links and "..".
[[nodiscard]] bool is_within(const std::filesystem::path& place, const std::filesystem::path& folder);

// Convert a UTF-8 string to a path and back; the two differ on Windows.
[[nodiscard]] std::filesystem::path path_from_utf8(const std::string& text);
[[nodiscard]] std::string path_to_utf8(const std::filesystem::path& path);

// For libraries that take a path as bytes in the system's code page. If Windows has a short name for the folder and the
// path is not ASCII, the result uses it; otherwise it is path_to_utf8(). The folder must exist; the file need not.
[[nodiscard]] std::string path_for_bytes(const std::filesystem::path& file);

}  // namespace latebind::platform
