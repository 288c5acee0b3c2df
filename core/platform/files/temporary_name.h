// The names of files and folders that are written beside their final place: ".latebind-<process>-<count>-<8 hexadecimal
// digits>.tmp". The pattern distinguishes leftovers of a crash from other files there. All functions may be called from
// any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace latebind::platform {

// Returns a new name, which no other process or thread on this machine uses. It does not contain the target's name,
// which may already have the greatest length. `ending` is ".tmp", or another ending for a name that is_temporary_name()
// should not recognise.
[[nodiscard]] std::string new_temporary_name(std::string_view ending = ".tmp");

[[nodiscard]] bool is_temporary_name(std::string_view name);

// The name of an OutputLock's file: ".latebind-<16 hexadecimal digits>.lock".
inline constexpr std::string_view kLockPrefix = ".latebind-";
inline constexpr std::string_view kLockEnding = ".lock";
inline constexpr std::size_t kLockDigits = 16;
[[nodiscard]] bool is_lock_name(std::string_view name);

// Whether a file with such a name has not been changed for a minute. A writer has no lock on its file just after it has
// created it, and just before it renames it, so a younger file may be in use. False when the age cannot be determined.
[[nodiscard]] bool is_left_alone(const std::filesystem::path& file) noexcept;

}  // namespace latebind::platform
