// Derives file names from names in a model, which may contain any characters.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace latebind::cli {

// Returns one safe, distinct name for each of `names`. Letters, digits, '.', '_' and '-' are kept, and other characters
// become '_'. Names have no leading dot and at most 100 characters, differ in more than case, and are not reserved for
// devices on Windows.
[[nodiscard]] std::vector<std::string> safe_file_names(std::span<const std::string> names);

}  // namespace latebind::cli
