// The system calls that TemporaryFolder uses; one implementation per system. Internal to core/platform.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/result.h"

namespace latebind::platform {

// The system's place for temporary files.
[[nodiscard]] core::Result<std::filesystem::path> temporary_place();

// A new folder in it that nobody else can look into. Its name begins with `prefix`.
[[nodiscard]] core::Result<std::filesystem::path> make_private_folder(const std::filesystem::path& place,
                                                                      std::string_view prefix);

// True for a folder, not a link to one, that belongs to this user and that nobody else can look into.
[[nodiscard]] bool is_private_folder(const std::filesystem::path& folder) noexcept;

}  // namespace latebind::platform
