// The standard folders of the system (XDG on Linux, Known Folders on Windows). Nothing is created here.
//
// On Linux a variable that holds a relative path counts as unset, and in a privileged process all of them do. Any
// thread may call these functions, as long as none changes the environment meanwhile.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// $XDG_CACHE_HOME/latebind, else ~/.cache/latebind; the local application data on Windows. Fails when there is no home
// folder.
[[nodiscard]] core::Result<std::filesystem::path> cache_folder();

// $XDG_CONFIG_HOME/latebind, else ~/.config/latebind; the roaming application data on Windows.
[[nodiscard]] core::Result<std::filesystem::path> config_folder();

// /etc/latebind; below the program data on Windows.
[[nodiscard]] std::filesystem::path system_config_folder();

// The user's home, from the environment, else from the user database.
[[nodiscard]] core::Result<std::filesystem::path> home_folder();

// The same file after the working folder has changed: absolute, as far as the working folder is known. Not resolved.
[[nodiscard]] std::filesystem::path anchored(const std::filesystem::path& file);

// "a/b" for "a/b/": without the slash at the end.
[[nodiscard]] std::filesystem::path without_slash(const std::filesystem::path& folder);

// Whether a place is the folder itself or lies below it. Only names are compared: both are canonical, or absolute and
// without links and "..".
[[nodiscard]] bool is_within(const std::filesystem::path& place, const std::filesystem::path& folder);

// A path from a UTF-8 string and back (the two differ on Windows).
[[nodiscard]] std::filesystem::path path_from_utf8(const std::string& text);
[[nodiscard]] std::string path_to_utf8(const std::filesystem::path& path);

// For libraries that take a path as bytes in whatever the system's code page is: the short name of its folder where
// Windows has one and the path is not ASCII, else path_to_utf8(). The folder must exist, the file need not.
[[nodiscard]] std::string path_for_bytes(const std::filesystem::path& file);

}  // namespace latebind::platform
