// The system calls that TemporaryFolder uses, with one implementation per system. Internal to core/platform.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/result.h"

namespace latebind::platform {

// Returns the system's place for temporary files.
[[nodiscard]] core::Result<std::filesystem::path> temporary_place();

// Creates a folder in it that nobody else can look into. Its name begins with `prefix`.
[[nodiscard]] core::Result<std::filesystem::path> make_private_folder(const std::filesystem::path& place,
                                                                      std::string_view prefix);

// Whether this is a folder (not a link to one) that belongs to this user and that nobody else can look into.
[[nodiscard]] bool is_private_folder(const std::filesystem::path& folder) noexcept;

}  // namespace latebind::platform
