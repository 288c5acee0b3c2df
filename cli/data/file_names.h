// File names from names in a model, which may contain anything.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace latebind::cli {

// One safe and different name for each of `names`: letters, digits, '.', '_' and '-' stay, anything else becomes '_';
// no leading dot, at most 100 characters, no two that differ only in case, no name that Windows reserves for a device.
[[nodiscard]] std::vector<std::string> safe_file_names(std::span<const std::string> names);

}  // namespace latebind::cli
