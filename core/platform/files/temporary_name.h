// The names of files and folders that are written beside their final place: ".latebind-<process>-<count>-<8 hexadecimal
// digits>.tmp". They distinguish what a crash has left from other files there.
#pragma once

#include <filesystem>
#include <string_view>

namespace latebind::platform {

[[nodiscard]] bool is_temporary_name(std::string_view name);

// Whether something with such a name has not been touched for a minute: its writer has no lock yet when it has just
// created it, and none any more when it is about to rename it. False when that cannot be determined.
[[nodiscard]] bool is_left_alone(const std::filesystem::path& file) noexcept;

}  // namespace latebind::platform
