// The names of files and folders that are written beside their final place: ".latebind-<process>-<count>-<8 hexadecimal
// digits>.tmp". They distinguish what a crash has left from other files there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace latebind::platform {

// A new one, unlike that of any other process or thread on this machine. It is not made from the target's name, which
// may already have the greatest length. `ending` is ".tmp", or what a name gets that is_temporary_name() is not to
// find.
[[nodiscard]] std::string new_temporary_name(std::string_view ending = ".tmp");

[[nodiscard]] bool is_temporary_name(std::string_view name);

// ".latebind-<16 hexadecimal digits>.lock": the name of an OutputLock's file.
inline constexpr std::string_view kLockPrefix = ".latebind-";
inline constexpr std::string_view kLockEnding = ".lock";
inline constexpr std::size_t kLockDigits = 16;
[[nodiscard]] bool is_lock_name(std::string_view name);

// Whether something with such a name has not been touched for a minute: its writer has no lock yet when it has just
// created it, and none any more when it is about to rename it. False when that cannot be determined.
[[nodiscard]] bool is_left_alone(const std::filesystem::path& file) noexcept;

}  // namespace latebind::platform
