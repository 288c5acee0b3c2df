// File names out of names that a model gives, which may hold anything.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace latebind::cli {

// One safe and different name for each of `names`: letters, digits, '.', '_' and '-' stay, anything else becomes '_';
// no leading dot, at most 100 characters, no two that differ only in case, no name that Windows keeps for a device.
[[nodiscard]] std::vector<std::string> safe_file_names(std::span<const std::string> names);

}  // namespace latebind::cli
