// The names of what is written beside its final place: ".latebind-<process>-<count>-<8 hexadecimal digits>.tmp". What a
// crash has left is told by them from what others keep there.
#pragma once

#include <filesystem>
#include <string_view>

namespace latebind::platform {

[[nodiscard]] bool is_temporary_name(std::string_view name);

// Whether what has such a name has not been touched for a minute: its writer has no lock yet when it has just made it,
// and none any more when it is about to rename it. False when that cannot be told.
[[nodiscard]] bool is_left_alone(const std::filesystem::path& file) noexcept;

}  // namespace latebind::platform
