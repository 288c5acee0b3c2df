// The standard folders of the system (XDG on Linux, Known Folders on Windows). Nothing is created here.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// $XDG_CACHE_HOME/latebind, else ~/.cache/latebind. Fails when there is no home folder.
[[nodiscard]] core::Result<std::filesystem::path> cache_folder();

// $XDG_CONFIG_HOME/latebind, else ~/.config/latebind.
[[nodiscard]] core::Result<std::filesystem::path> config_folder();

// /etc/latebind
[[nodiscard]] std::filesystem::path system_config_folder();

// The user's home, from the environment, else from the user database.
[[nodiscard]] core::Result<std::filesystem::path> home_folder();

// A path from a UTF-8 string and back (the two differ on Windows).
[[nodiscard]] std::filesystem::path path_from_utf8(const std::string& text);
[[nodiscard]] std::string path_to_utf8(const std::filesystem::path& path);

}  // namespace latebind::platform
