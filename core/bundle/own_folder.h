// Checks whether an existing folder may be replaced: only if it is a bundle that Latebind wrote and contains nothing
// else. May be called from any thread.
//
// A manifest.json does not make a bundle, because many programs have a file of that name. The manifest must record
// every file with its content; any other file, a changed one or a link out of the folder protects the whole folder.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::core {

// Returns ok for a place where a bundle's folder may be written: an absent or empty folder, or a bundle that Latebind
// wrote. Otherwise kInvalidArgument with the first unknown file, or with the reason why it is not a bundle. Reads all
// of it. `name` is the folder's name for messages when it is not at its own place.
[[nodiscard]] Status check_replaceable(const std::filesystem::path& folder, const std::filesystem::path& name);

[[nodiscard]] bool is_empty_or_absent(const std::filesystem::path& place);

}  // namespace latebind::core
